package dev.kvasir.embedded;

import dev.kvasir.embedded.step.EngineMemory;
import dev.kvasir.model.CpuModel;
import dev.kvasir.model.ModelShape;
import dev.kvasir.model.StepRow;
import dev.kvasir.net.Threads;
import dev.kvasir.tiers.host.HostMemory;
import java.time.Duration;
import java.util.Arrays;

/**
 * Has the JIT compile the model's fastest code while the model computes with plain code.
 *
 * <p>Until they are compiled, vectors are much slower than no vectors, and what comes out is the
 * same, bit for bit. So nobody who asks early has to wait for this, unless with a long prompt.
 */
final class WarmUp implements AutoCloseable {
  private static final Duration LONGEST = Duration.ofSeconds(5);
  private static final int ROUNDS = 40;

  /** Four are computed together and one alone: both ways are to be compiled. */
  private static final int TOKENS = 5;

  private static final int PLACES = 9;
  private static final int BLOCKS = ModelShape.blocks(PLACES * TOKENS);

  private final CpuModel model;
  private final Thread thread =
      Thread.ofPlatform().name("kvasir-warm-up").daemon(true).unstarted(this::run);
  private volatile boolean closed;

  WarmUp(CpuModel model) {
    this.model = model;
  }

  /** Begins, unless it has begun. */
  synchronized void start() {
    if (!closed && thread.getState() == Thread.State.NEW) thread.start();
  }

  /** Computes dummy tokens, in memory of its own. */
  private void run() {
    long begunNanos = System.nanoTime();
    var slots = new int[BLOCKS];
    Arrays.setAll(slots, i -> i);
    var tokens = new int[TOKENS];
    try (var memory = new HostMemory("warm-up", BLOCKS, model.shape().kvBytesPerBlock())) {
      var at = new EngineMemory(memory);
      for (int round = 0; round < ROUNDS && !closed; round++) {
        model.rehearse(new StepRow(tokens, round % PLACES * TOKENS, slots, true), at);
        if (System.nanoTime() - begunNanos > LONGEST.toNanos()) break;
      }
    } finally {
      model.computeFully();
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    Threads.join(thread);
    model.computeFully();
  }
}
