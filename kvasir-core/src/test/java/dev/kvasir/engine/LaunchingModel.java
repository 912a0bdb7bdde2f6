package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * A device that is given steps while others run, and whose memory knows what was computed into it.
 *
 * <p>Steps fail at their end, as a whole or for some sequences: then nothing of use is where they
 * wrote. Every row that counts is checked to read what it should.
 */
final class LaunchingModel implements ModelBackend {
  private static final int BLOCK_TOKENS = TestMemory.BLOCK_TOKENS;

  private final EventLoop loop;
  private final RandomGenerator random;

  /** The content of each slot: the block of which all tokens are there. */
  final @Nullable BlockHash[] whole;

  /** The block of which some tokens are there, from its first on, and how many. */
  private final @Nullable BlockHash[] begun;

  private final int[] filled;
  private final ArrayDeque<Task> queue = new ArrayDeque<>();

  /** Sequences of failed steps: what they go on to compute is of no use, and nobody minds. */
  private final Set<Sequence> doomed = new HashSet<>();

  /** Blocks that a step that landed, or was about to, has computed at any time. */
  private final Set<BlockHash> computed = new HashSet<>();

  private boolean calm;
  private int failures;

  /** Tokens of a sequence, and where its blocks lie. */
  private record Row(Sequence sequence, int start, int tokens, int[] slots) {}

  /** The work of the device in its turn: a step, or a copy that waits for the steps before it. */
  private sealed interface Task {
    record Step(List<Row> rows, Consumer<StepResult> listener, boolean awaited) implements Task {}

    record Copy(Runnable run) implements Task {}
  }

  LaunchingModel(EventLoop loop, RandomGenerator random, int blocks) {
    this.loop = loop;
    this.random = random;
    this.whole = new BlockHash[blocks];
    this.begun = new BlockHash[blocks];
    this.filled = new int[blocks];
  }

  void calmDown() {
    calm = true;
  }

  /** Returns how many steps have failed, for all or for some. */
  int failures() {
    return failures;
  }

  /** Returns whether the block was ever computed by a step that did not fail. */
  boolean hasComputed(BlockHash block) {
    return computed.contains(block);
  }

  /** The store, whose copies begin behind the steps that were launched before. */
  TierStore behindSteps(TierStore store) {
    return new TierStore() {
      @Override
      public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
        add(new Task.Copy(() -> store.store(copies, done)));
      }

      @Override
      public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
        add(new Task.Copy(() -> store.load(copies, done)));
      }
    };
  }

  @Override
  public void forward(Batch batch, Consumer<StepResult> listener) {
    var rows = new ArrayList<Row>();
    for (var part : batch.parts()) rows.add(row(part.sequence(), part.start(), part.tokens()));
    for (var row : batch.rows()) rows.add(row(row.sequence(), row.position(), 1));
    var step = new Task.Step(rows, listener, random.nextInt(5) == 0);
    boolean isFirst = next() == null;
    add(step);
    if (isFirst && !step.awaited) loop.execute(() -> listener.accept(StepResult.LAUNCHED));
  }

  private static Row row(Sequence sequence, int start, int tokens) {
    var slots = new int[Math.ceilDiv(start + tokens, BLOCK_TOKENS)];
    Arrays.setAll(slots, sequence.blocks()::slot);
    return new Row(sequence, start, tokens, slots);
  }

  private void add(Task task) {
    queue.add(task);
    if (queue.size() == 1) begin();
  }

  private void begin() {
    switch (queue.getFirst()) {
      case Task.Copy copy -> loop.execute(() -> end(copy));
      case Task.Step step ->
          loop.after(Duration.ofNanos(1_000 + random.nextInt(3_000)), () -> end(step));
    }
  }

  private void end(Task.Copy copy) {
    queue.remove();
    if (!queue.isEmpty()) begin();
    copy.run.run();
  }

  private void end(Task.Step step) {
    queue.remove();
    var result = result(step);
    if (!queue.isEmpty()) begin();
    var next = next();
    step.listener.accept(result);
    if (next != null && !next.awaited) next.listener.accept(StepResult.LAUNCHED);
  }

  private Task.@Nullable Step next() {
    for (var task : queue) if (task instanceof Task.Step step) return step;
    return null;
  }

  private StepResult result(Task.Step step) {
    if (!calm && random.nextInt(25) == 0) return failed(step);
    var sampled = new ArrayList<StepResult.Sampled>();
    var stopped = new ArrayList<Sequence>();
    var failed = new ArrayList<StepResult.Failure>();
    for (var row : step.rows) {
      int chance = calm ? -1 : random.nextInt(60);
      if (chance == 0) {
        failures++;
        doomed.add(row.sequence);
        failed.add(new StepResult.Failure(row.sequence, "not a number"));
      } else if (row.tokens == 1) {
        sampled.add(new StepResult.Sampled(row.sequence, row.start));
      }
      if (chance == 1 || chance == 2) stopped.add(row.sequence);
      if (doomed.contains(row.sequence)) spoil(row);
      else compute(row);
    }
    return new StepResult.Landed(sampled, stopped, failed);
  }

  private StepResult failed(Task.Step step) {
    failures++;
    doom(step);
    step.rows.forEach(this::spoil);
    for (var task : queue) if (task instanceof Task.Step behind) doom(behind);
    return new StepResult.Failed("the device was out of memory");
  }

  private void doom(Task.Step step) {
    for (var row : step.rows) doomed.add(row.sequence);
  }

  private void spoil(Row row) {
    for (int i = row.start / BLOCK_TOKENS; i < row.slots.length; i++) {
      whole[row.slots[i]] = null;
      begun[row.slots[i]] = null;
    }
  }

  private void compute(Row row) {
    var names = row.sequence.request().names();
    for (int i = 0; i < row.start / BLOCK_TOKENS; i++) {
      if (names.name(i).equals(whole[row.slots[i]])) continue;
      throw new AssertionError(
          "%s reads block %s at %s, where %s is"
              .formatted(row.sequence, i, row.start, whole[row.slots[i]]));
    }
    for (int at = row.start; at < row.start + row.tokens; at++) write(row, names, at);
  }

  private void write(Row row, BlockNames names, int position) {
    int slot = row.slots[position / BLOCK_TOKENS];
    int place = position % BLOCK_TOKENS;
    var name = names.name(position / BLOCK_TOKENS);
    if (place == 0) {
      begun[slot] = name;
      whole[slot] = null;
    } else if (!name.equals(begun[slot]) || filled[slot] != place) {
      throw new AssertionError(row.sequence + " goes on at " + position + " in another's block");
    }
    filled[slot] = place + 1;
    if (place + 1 < BLOCK_TOKENS) return;
    whole[slot] = name;
    computed.add(name);
  }
}
