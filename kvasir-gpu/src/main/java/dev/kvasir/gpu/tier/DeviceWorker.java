package dev.kvasir.gpu.tier;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.gpu.CopyCosts;
import dev.kvasir.gpu.CopyWay;
import dev.kvasir.gpu.CudaEvent;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.CudaStream;
import dev.kvasir.gpu.Direction;
import dev.kvasir.gpu.MoveKernel;
import dev.kvasir.net.Threads;
import dev.kvasir.offload.pipeline.Precondition;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.StoreCall;
import dev.kvasir.time.EventLoop;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** The thread of one direction of a GPU: starts copies, and polls for their completion. */
final class DeviceWorker implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(DeviceWorker.class.getName());

  /** Time for which it polls without a pause: a single block arrives within it. */
  private static final long EAGER_NANOS = 30_000;

  private static final long PAUSE_NANOS = 20_000;

  private final EventLoop loop;
  private final DeviceMemory above;
  private final Consumer<DeviceCall> settle;
  private final DeviceCopyQueue road;
  private final Queue<DeviceCall> calls = new ConcurrentLinkedQueue<>();
  private final Queue<CudaEvent> barriers = new ConcurrentLinkedQueue<>();
  private final List<CudaStream> streams;
  private final DeviceWatch watch;
  private final CudaStack resources = new CudaStack();
  private final Map<CopyWay, LongAdder> chunks = new EnumMap<>(CopyWay.class);
  private final LongAdder copied = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final Thread thread;
  private volatile boolean closed;
  private volatile @Nullable String lost;

  /** Opens the lanes of the direction; the calling thread is bound to the GPU. */
  DeviceWorker(
      EventLoop loop,
      DeviceMemory above,
      HostMemory below,
      MoveKernel kernel,
      Direction direction,
      CopyCosts costs,
      Consumer<DeviceCall> settle)
      throws CudaFailure {
    this.loop = loop;
    this.above = above;
    this.settle = settle;
    this.watch = new DeviceWatch(loop);
    for (var way : CopyWay.values()) chunks.put(way, new LongAdder());
    try {
      var lanes = DeviceLane.open(resources, above, below, kernel, direction);
      this.streams = DeviceLane.streams(lanes);
      this.road = new DeviceCopyQueue(lanes, above.layout(), costs);
    } catch (CudaFailure failure) {
      resources.close();
      throw failure;
    }
    int gpu = above.device().gpu().index();
    var name = "kvasir-gpu-" + gpu + "-" + direction.name().toLowerCase(Locale.ROOT);
    this.thread = Thread.ofPlatform().name(name).daemon(true).start(this::run);
  }

  /** Takes a call in; it is answered on the loop. */
  void hand(DeviceCall call) {
    calls.add(call);
    LockSupport.unpark(thread);
    // Whoever hands in while it closes might find the thread gone.
    if (closed && !thread.isAlive()) refuse();
  }

  Precondition watch(CudaEvent event) {
    var precondition = watch.add(event);
    LockSupport.unpark(thread);
    if (closed && !thread.isAlive()) watch.fail("the store is closed");
    return precondition;
  }

  @Nullable
  String lost() {
    return lost;
  }

  long copied() {
    return copied.sum();
  }

  long failed() {
    return failed.sum();
  }

  /** Returns how many chunks went that way. */
  long chunks(CopyWay way) {
    var count = chunks.get(way);
    return count == null ? 0 : count.sum();
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    Threads.join(thread);
    refuse();
    resources.close();
  }

  private void refuse() {
    for (var call = calls.poll(); call != null; call = calls.poll()) {
      call.fail("the store is closed");
      answer(call);
    }
  }

  private void run() {
    try {
      above.device().bind();
    } catch (CudaFailure failure) {
      lose(failure.getMessage());
    }
    long idleSince = System.nanoTime();
    while (true) {
      boolean moved = turn();
      if (moved) idleSince = System.nanoTime();
      else if (closed && !road.isBusy()) break;
      else pause(idleSince);
    }
    watch.fail("the store is closed");
    dropBarriers();
  }

  private void pause(long idleSince) {
    if (!road.isBusy() && watch.isEmpty()) {
      if (calls.isEmpty() && barriers.isEmpty() && !closed) LockSupport.park(this);
    } else if (road.isBusy() && System.nanoTime() - idleSince < EAGER_NANOS) {
      Thread.onSpinWait();
    } else {
      LockSupport.parkNanos(this, PAUSE_NANOS);
    }
  }

  /** One look at everything; whether anything has moved. */
  private boolean turn() {
    boolean moved = false;
    for (var call = calls.poll(); call != null; call = calls.poll()) {
      moved = true;
      var reason = closed ? "the store is closed" : lost;
      if (reason == null) {
        road.add(call);
      } else {
        call.fail(reason);
        answer(call);
      }
    }
    var gone = lost;
    if (gone != null) {
      watch.fail(gone);
      dropBarriers();
      return moved;
    }
    try {
      // After the calls were taken: whoever asked for a barrier did so before handing in a call.
      moved |= setBarriers();
      if (closed) answerAll(road.drop("the store is closed"));
      moved |= answerAll(road.finished());
      moved |= begin();
      moved |= watch.look();
    } catch (CudaFailure failure) {
      lose(failure.getMessage());
    } catch (RuntimeException | Error bug) {
      // A thread that dies in silence would leave everything after it without an answer.
      LOG.log(ERROR, above.device() + ": the thread of its copies failed", bug);
      lose("the thread of its copies failed: " + bug);
    }
    return moved;
  }

  /** Makes what this worker begins from now on wait, on the GPU, until the event is reached. */
  void after(CudaEvent event) {
    barriers.add(event);
    LockSupport.unpark(thread);
    if (closed && !thread.isAlive()) dropBarriers();
  }

  private boolean setBarriers() throws CudaFailure {
    boolean moved = false;
    for (var event = barriers.poll(); event != null; event = barriers.poll()) {
      moved = true;
      for (var stream : streams) stream.after(event);
      event.close();
    }
    return moved;
  }

  private void dropBarriers() {
    for (var event = barriers.poll(); event != null; event = barriers.poll()) {
      try {
        event.close();
      } catch (CudaFailure failure) {
        LOG.log(DEBUG, "an event was not given back: {0}", failure.getMessage());
      }
    }
  }

  private boolean begin() throws CudaFailure {
    boolean moved = false;
    for (var chunk = road.next(); chunk != null; chunk = road.next()) {
      moved = true;
      var pairs = chunk.call().pairs(chunk.to());
      try {
        chunk.lane().begin(chunk.way(), pairs, chunk.from(), chunk.to());
        var count = chunks.get(chunk.way());
        if (count != null) count.increment();
      } catch (CudaFailure failure) {
        if (failure.isContextLost()) throw failure;
        giveUp(chunk, failure.getMessage());
      } catch (RuntimeException bug) {
        giveUp(chunk, bug.toString());
      }
    }
    return moved;
  }

  private void giveUp(DeviceCopyQueue.Chunk chunk, String reason) throws CudaFailure {
    LOG.log(WARNING, above.device() + ": a copy failed, {0}", reason);
    chunk.call().fail(reason);
    // Part of it may be under way, and the slots are not free until then.
    chunk.lane().mark(chunk.way());
  }

  private boolean answerAll(List<DeviceCall> over) {
    for (var call : over) answer(call);
    return !over.isEmpty();
  }

  private void answer(DeviceCall call) {
    (call.hasFailed() ? failed : copied).add(call.count());
    StoreCall.answer(loop, () -> settle.accept(call));
  }

  /** The GPU is lost: all calls fail from now on, with the reason. */
  private void lose(String why) {
    var reason = above.device() + " is lost, " + why;
    LOG.log(WARNING, "{0}; the tiers below continue without it", reason);
    lost = reason;
    answerAll(road.abandon(reason));
    watch.fail(reason);
  }
}
