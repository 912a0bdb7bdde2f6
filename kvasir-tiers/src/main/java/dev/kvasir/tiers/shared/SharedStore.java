package dev.kvasir.tiers.shared;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.state.StoreTally;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.CopyOutcome.Copied;
import dev.kvasir.offload.store.CopyOutcome.Damaged;
import dev.kvasir.offload.store.CopyOutcome.Failed;
import dev.kvasir.tiers.host.CopyQueue;
import dev.kvasir.tiers.host.CopyQueue.Kind;
import dev.kvasir.tiers.host.CopyQueue.Task;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.LowerStore;
import dev.kvasir.tiers.host.StoreCall;
import dev.kvasir.tiers.host.Watchdog;
import dev.kvasir.tiers.host.Workers;
import dev.kvasir.tiers.shared.BlockTransport.Fetched;
import dev.kvasir.tiers.shared.BlockTransport.Parcel;
import dev.kvasir.tiers.shared.BlockTransport.Sent;
import dev.kvasir.tiers.shared.BlockTransport.Write;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * A tier on a server that others use too: seals what goes there, and checks what comes back.
 *
 * <p>The slots of such a tier are only a bound on what this process believes to be there; the
 * server finds blocks by their names. What it no longer has is a miss, and so is what it has in
 * another shape. Bytes reach the slot above after they were checked, never before. A server that
 * does not answer costs the timeout of a batch, and nothing is tried twice.
 */
public final class SharedStore implements LowerStore {
  private static final System.Logger LOG = System.getLogger(SharedStore.class.getName());
  private static final int SUSPECTS_MAX = 4096;
  private static final Failed UNANSWERED = new Failed("the server did not answer for it");

  private final EventLoop loop;
  private final HostMemory above;
  private final SharedLimits limits;
  private final BlockSeals seals;
  private final BlockTransport transport;
  private final Watchdog watchdog;
  private final CopyQueue queue;
  private final Workers workers;
  private final DamagedBlocks suspects = new DamagedBlocks(SUSPECTS_MAX);
  private final LookupQueue looks;
  private final LongAdder stored = new LongAdder();
  private final LongAdder present = new LongAdder();
  private final LongAdder busy = new LongAdder();
  private final LongAdder loaded = new LongAdder();
  private final LongAdder missing = new LongAdder();
  private final LongAdder damaged = new LongAdder();
  private final LongAdder failed = new LongAdder();

  /**
   * A store over the transport, which it then owns.
   *
   * @param kind what threads to start: such that leave the transport when they are interrupted
   * @param name for the threads
   */
  public SharedStore(
      Thread.Builder kind,
      String name,
      EventLoop loop,
      HostMemory above,
      SharedLimits limits,
      BlockSeals seals,
      BlockTransport transport) {
    if (above.blockBytes() != seals.blockBytes()) {
      throw new IllegalArgumentException(
          above
              + " has blocks of "
              + above.blockBytes()
              + " bytes, the shared tier of "
              + seals.blockBytes());
    }
    this.loop = loop;
    this.above = above;
    this.limits = limits;
    this.seals = seals;
    this.transport = transport;
    this.watchdog = new Watchdog(name);
    this.queue = new CopyQueue(limits.queueMax());
    this.looks =
        new LookupQueue(
            blocks -> watchdog.within(limits.timeout(), () -> transport.look(blocks)),
            limits.lookBatches(),
            limits.lookQueueMax());
    int batch = limits.batchBlocks(seals.sealedBytes());
    this.workers = new Workers(kind, name, limits.threads(), queue, batch, this::work);
  }

  @Override
  public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    submit(Kind.STORE, copies, done);
  }

  @Override
  public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    submit(Kind.LOAD, copies, done);
  }

  /**
   * Asks the server which of the blocks are there, and answers on the loop, in their order: the way
   * to learn what others have stored.
   */
  public void look(List<TokenBlock> blocks, Consumer<List<Presence>> done) {
    looks.lookUp(blocks, presences -> StoreCall.answer(loop, () -> done.accept(presences)));
  }

  /** Some of what is on the server, at most so many; blocks, so not for the loop's thread. */
  public List<TokenBlock> list(int blocksMax) throws IOException {
    return transport.list(blocksMax);
  }

  /** The generation of this tier that was last set by whoever shares it; blocks. */
  public String generation() throws IOException {
    return bounded(transport::generation);
  }

  /** Sets the generation of this tier for all who share it; blocks. */
  public void setGeneration(String generation) throws IOException {
    var _ =
        bounded(
            () -> {
              transport.setGeneration(generation);
              return generation;
            });
  }

  /** Sets it again where the server has none any more; blocks. */
  public void keepGeneration(String generation) throws IOException {
    var _ =
        bounded(
            () -> {
              transport.keepGeneration(generation);
              return generation;
            });
  }

  /** Runs the call within the time limit of a batch. */
  private <T> T bounded(Callable<T> call) throws IOException {
    try {
      return watchdog.within(limits.timeout(), call);
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  /**
   * Removes the blocks of all who share this tier; blocks.
   *
   * @return how many were removed
   * @throws IOException if not all could be removed in that time
   */
  public long removeAll(Duration longest) throws IOException {
    long end = System.nanoTime() + longest.toNanos();
    var removed = new AtomicLong();
    var inTime = new AtomicBoolean(true);
    transport.removeAll(
        count -> {
          removed.addAndGet(count);
          inTime.set(System.nanoTime() - end < 0);
          return inTime.get();
        });
    if (!inTime.get()) {
      throw new IOException(
          removed + " blocks were removed in " + longest.toSeconds() + " s, and there are more");
    }
    return removed.get();
  }

  /**
   * Makes blocks that are said to be on the server known to the pool of this tier, as far as it has
   * room; on the loop.
   *
   * @return how many were not known before
   */
  public static int learn(BlockPool pool, List<TokenBlock> blocks) {
    var learned = new ArrayList<Block>();
    for (var block : blocks) {
      if (pool.has(block.hash())) continue;
      var room = pool.allocate(1);
      if (room.isEmpty()) break;
      learned.add(room.get().getFirst().receive(block));
    }
    for (var block : learned) block.release();
    return learned.size();
  }

  @Override
  public int queueMax() {
    return limits.queueMax();
  }

  @Override
  public StoreTally tally(Tier tier) {
    return stats().tally(tier);
  }

  public SharedStats stats() {
    return new SharedStats(
        stored.sum(),
        present.sum(),
        busy.sum(),
        loaded.sum(),
        missing.sum(),
        damaged.sum(),
        failed.sum(),
        queue.refusals(),
        stored.sum() * seals.blockBytes(),
        loaded.sum() * seals.blockBytes(),
        queue.depth(),
        looks.lookups.sum(),
        looks.refused.sum(),
        looks.failed.sum(),
        looks.waiting());
  }

  /** Finishes what runs, answers what waits and lets go of the server. */
  @Override
  public void close() {
    for (var task : queue.close()) queue.answer(task, new Failed("the store is closed"));
    workers.join();
    watchdog.close();
    transport.close();
  }

  private void submit(Kind kind, List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    for (var copy : copies) above.check(copy.above());
    var call = new StoreCall(loop, copies.size(), done);
    queue.submit(kind, copies, call);
  }

  /** Each task is answered once, whatever happens. */
  private void work(List<Task> tasks) {
    List<CopyOutcome> outcomes;
    try {
      outcomes =
          switch (tasks.getFirst().kind()) {
            case LOAD -> load(tasks);
            case STORE -> store(tasks);
          };
    } catch (Exception | Error e) {
      warn("a batch of " + tasks.size(), e);
      outcomes = Collections.nCopies(tasks.size(), new Failed(reason(e)));
    }
    for (int i = 0; i < tasks.size(); i++) {
      if (outcomes.get(i) instanceof Failed) failed.increment();
      queue.answer(tasks.get(i), outcomes.get(i));
    }
  }

  /** Checks and copies each block as it comes, while the processor still has it at hand. */
  private List<CopyOutcome> load(List<Task> tasks) throws Exception {
    var blocks = distinct(tasks).stream().map(task -> task.copy().block()).toList();
    var outcomes = new ArrayList<CopyOutcome>(Collections.nCopies(tasks.size(), UNANSWERED));
    var _ =
        watchdog.within(
            limits.timeout(),
            () -> {
              transport.fetch(blocks, (hash, fetched) -> receive(tasks, hash, fetched, outcomes));
              return outcomes;
            });
    return outcomes;
  }

  private void receive(
      List<Task> tasks, BlockHash hash, Fetched fetched, List<CopyOutcome> outcomes) {
    for (int i = 0; i < tasks.size(); i++) {
      var copy = tasks.get(i).copy();
      if (copy.block().hash().equals(hash)) outcomes.set(i, received(copy, fetched));
    }
  }

  private static List<Task> distinct(List<Task> tasks) {
    var distinct = new LinkedHashMap<BlockHash, Task>();
    for (var task : tasks) distinct.putIfAbsent(task.copy().block().hash(), task);
    return List.copyOf(distinct.values());
  }

  private CopyOutcome received(BlockCopy copy, Fetched fetched) {
    return switch (fetched) {
      case Fetched.Lost(var reason) -> new Failed(reason);
      case Fetched.Absent() -> {
        missing.increment();
        yield new Damaged("the server does not have it any more");
      }
      case Fetched.Found(var bytes) -> open(copy, seals.open(copy.block(), bytes));
    };
  }

  private CopyOutcome open(BlockCopy copy, BlockSeals.Opened opened) {
    switch (opened) {
      case BlockSeals.Opened.Bad(var fault) -> {
        damaged.increment();
        suspects.add(copy.block().hash());
        transport.doubt();
        return new Damaged("what the server has is not the block: " + fault);
      }
      case BlockSeals.Opened.Good(var bytes, var content) -> {
        try {
          above.write(copy.above(), bytes);
        } catch (IllegalStateException e) {
          return new Failed("the slot above: " + e.getMessage());
        }
        loaded.increment();
        boolean known = content.length() == copy.block().length();
        return known ? CopyOutcome.COPIED : new Copied(content);
      }
    }
  }

  private List<CopyOutcome> store(List<Task> tasks) throws Exception {
    var outcomes = new LinkedHashMap<BlockHash, CopyOutcome>();
    var parcels = new ArrayList<Parcel>();
    for (var task : distinct(tasks)) {
      var block = task.copy().block();
      try {
        var sealed = seals.seal(block, above, task.copy().above());
        boolean wrong = suspects.has(block.hash());
        parcels.add(new Parcel(block, sealed, wrong ? Write.REPLACE : Write.IF_ABSENT));
      } catch (IllegalStateException e) {
        outcomes.put(block.hash(), new Failed("the slot above: " + e.getMessage()));
      }
    }
    var sent = watchdog.within(limits.timeout(), () -> transport.send(parcels));
    for (var parcel : parcels) {
      var hash = parcel.block().hash();
      outcomes.put(hash, arrived(hash, sent.get(hash)));
    }
    return tasks.stream().map(task -> outcomes.get(task.copy().block().hash())).toList();
  }

  private CopyOutcome arrived(BlockHash hash, @Nullable Sent sent) {
    return switch (sent) {
      case null -> UNANSWERED;
      case Sent.Refused(var reason) -> new Failed(reason);
      case Sent.Written() -> {
        stored.increment();
        suspects.remove(hash);
        yield CopyOutcome.COPIED;
      }
      case Sent.Present() -> {
        present.increment();
        yield CopyOutcome.COPIED;
      }
      case Sent.Busy(var who) -> {
        busy.increment();
        yield new CopyOutcome.Busy(who);
      }
    };
  }

  /** A server that is down must not fill a disk with warnings: the 1st, 2nd, 4th, 8th ... */
  private void warn(String what, Throwable failure) {
    long count = failed.sum() + 1;
    if (Long.bitCount(count) == 1) LOG.log(WARNING, what + " failed: " + reason(failure));
  }

  private static String reason(Throwable failure) {
    var message = failure.getMessage();
    return message == null ? failure.getClass().getSimpleName() : message;
  }
}
