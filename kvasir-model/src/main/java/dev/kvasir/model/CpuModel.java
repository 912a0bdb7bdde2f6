package dev.kvasir.model;

import dev.kvasir.Nullable;
import dev.kvasir.model.compute.Kernels;
import dev.kvasir.model.compute.ParallelRunner;
import dev.kvasir.model.compute.ScalarKernels;
import dev.kvasir.model.gguf.GgufFile;
import dev.kvasir.model.gguf.ModelFileException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A model that runs on the CPU, with keys and values in paged blocks.
 *
 * <p>A step is any mixture of prompt chunks and single tokens. The result of a row depends on that
 * row alone, bit for bit: not on other rows, the chunks of its prompt, the position of its blocks,
 * or the number of threads. The model runs one step at a time, and must be idle when it is closed.
 */
public final class CpuModel implements AutoCloseable {
  /** So many tokens a step may have; the memory of a step grows with it. */
  public static final int STEP_TOKENS_MAX = 8_192;

  /**
   * With more tokens, waiting for the compilation of the vector kernels is faster than computing
   * without.
   */
  private static final int PLAIN_TOKENS_MAX = 64;

  private static final int HURRY_SECONDS = 10;

  /** Work of fewer multiplications takes less time than waking another thread. */
  private static final long SHARED_MULTIPLICATIONS_MIN = 1_000_000;

  private final Arena arena = Arena.ofShared();
  private final ModelShape shape;
  private final Weights weights;
  private final String fingerprint;
  private final ParallelRunner runner;
  private final AtomicBoolean busy = new AtomicBoolean();
  private final Kernels kernels;
  private final Passes full;
  private volatile Passes passes;
  private volatile CompletableFuture<@Nullable Void> fully =
      CompletableFuture.completedFuture(null);
  private volatile Runnable hurry = () -> {};

  /** Steps by all threads together, or by each thread alone. */
  private record Passes(Pass together, List<Pass> apart) {}

  private CpuModel(GgufFile file, int vocabulary, Kernels kernels, int threads)
      throws ModelFileException {
    try {
      this.shape = ModelShape.of(file, vocabulary);
      this.weights = Weights.of(file, shape, kernels.lanes(), arena);
    } catch (OutOfMemoryError e) {
      arena.close();
      throw new ModelFileException(
          file.path(),
          "its weights do not fit into memory (" + e.getMessage() + ")",
          "use a smaller model, or raise -Xmx and -XX:MaxDirectMemorySize");
    } catch (ModelFileException | RuntimeException | Error e) {
      arena.close();
      throw e;
    }
    this.fingerprint = "gguf sha256 " + file.sha256() + ", blocks of 16, float32";
    this.runner = new ParallelRunner("model", threads);
    this.kernels = kernels;
    this.full = passes(kernels);
    this.passes = full;
  }

  private Passes passes(Kernels kernels) {
    var apart = new ArrayList<Pass>();
    for (int i = 0; i < runner.size(); i++) apart.add(alone(kernels));
    return new Passes(new Pass(shape, weights, kernels, this::share, runner.size()), apart);
  }

  private Pass alone(Kernels kernels) {
    return new Pass(
        shape, weights, kernels, (units, _, work) -> ParallelRunner.alone(units, work), 1);
  }

  /** Loads the model in the file, to compute with so many threads. */
  public static CpuModel open(Path path, int threads) throws ModelFileException {
    return open(path, threads, Kernels.best());
  }

  /** Loads it to compute with these kernels. */
  public static CpuModel open(Path path, int threads, Kernels kernels) throws ModelFileException {
    try (var file = GgufFile.open(path)) {
      int vocabulary = file.metadata().texts("tokenizer.ggml.tokens").size();
      return new CpuModel(file, vocabulary, kernels, threads);
    }
  }

  public ModelShape shape() {
    return shape;
  }

  /** Names everything that shapes keys and values: the weights, and how a block is laid out. */
  public String fingerprint() {
    return fingerprint;
  }

  /**
   * Computes the same without vectors from the next step on, until {@link #computeFully}.
   *
   * @param hurry run by a step that has too many tokens for that, and then waits
   */
  public void computePlainly(Runnable hurry) {
    if (kernels instanceof ScalarKernels) return;
    this.hurry = hurry;
    fully = new CompletableFuture<>();
    passes = passes(new ScalarKernels());
  }

  /** Computes with the kernels it was opened with from the next step on. */
  public void computeFully() {
    passes = full;
    fully.complete(null);
  }

  private Passes passesFor(List<StepRow> rows) {
    int tokens = rows.stream().mapToInt(row -> row.tokens().length).sum();
    if (tokens > PLAIN_TOKENS_MAX && !fully.isDone()) {
      hurry.run();
      fully.copy().completeOnTimeout(null, HURRY_SECONDS, TimeUnit.SECONDS).join();
    }
    return passes;
  }

  /**
   * Computes a row by the thread that asks, beside the steps, with the kernels it was opened with.
   */
  public void rehearse(StepRow row, KvMemory memory) {
    check(0, row, memory);
    alone(kernels).run(PassTokens.of(List.of(row), List.of(0), memory), (_, _, _) -> {});
  }

  /**
   * Computes a step: writes keys and values of all rows' tokens into their blocks.
   *
   * @param logits for each row, in the same order, an array that takes the logits behind its last
   *     token where it is sampled; of others it may be empty
   */
  public void forward(List<StepRow> rows, KvMemory memory, float[][] logits) {
    check(rows, memory, logits);
    if (rows.isEmpty()) return;
    if (busy.getAndSet(true)) throw new IllegalStateException("the model is in another step");
    try {
      compute(rows, memory, logits);
    } finally {
      busy.set(false);
    }
  }

  private void compute(List<StepRow> rows, KvMemory memory, float[][] logits) {
    Pass.LogitSink sink =
        (row, all, from) -> System.arraycopy(all, from, logits[row], 0, shape.vocabulary());
    var groups = StepSplit.of(rows, memory.blocks(), runner.size());
    var now = passesFor(rows);
    if (groups.size() == 1) {
      now.together.run(PassTokens.of(rows, groups.getFirst(), memory), sink);
      return;
    }
    runner.run(
        groups.size(),
        (group, _) ->
            now.apart.get(group).run(PassTokens.of(rows, groups.get(group), memory), sink));
  }

  private void share(int units, long multiplications, ParallelRunner.Work work) {
    if (multiplications < SHARED_MULTIPLICATIONS_MIN) ParallelRunner.alone(units, work);
    else runner.run(units, work);
  }

  private void check(List<StepRow> rows, KvMemory memory, float[][] logits) {
    if (!arena.scope().isAlive()) throw new IllegalStateException("the model is closed");
    if (memory.blockBytes() < shape.kvBytesPerBlock()) {
      throw new IllegalArgumentException(
          "%s has blocks of %s bytes, the model needs %s"
              .formatted(memory, memory.blockBytes(), shape.kvBytesPerBlock()));
    }
    if (logits.length < rows.size()) {
      throw new IllegalArgumentException(rows.size() + " rows, " + logits.length + " logits");
    }
    long tokens = 0;
    for (int i = 0; i < rows.size(); i++) {
      check(i, rows.get(i), memory);
      tokens += rows.get(i).tokens().length;
      if (rows.get(i).sampled() && logits[i].length < shape.vocabulary()) {
        throw new IllegalArgumentException("row " + i + ": room for " + logits[i].length);
      }
    }
    if (tokens > STEP_TOKENS_MAX) {
      throw new IllegalArgumentException(
          "a step of " + tokens + " tokens, expected at most " + STEP_TOKENS_MAX);
    }
  }

  private void check(int index, StepRow row, KvMemory memory) {
    if (row.end() > shape.contextTokens()) {
      throw new IllegalArgumentException(
          "row %s ends at %s, the context at %s"
              .formatted(index, row.end(), shape.contextTokens()));
    }
    for (int token : row.tokens()) {
      if (token < 0 || token >= shape.vocabulary()) {
        throw new IllegalArgumentException("row " + index + ": no token " + token);
      }
    }
    for (int block : row.blocks()) {
      var _ = memory.at(block);
    }
  }

  /** Ends the threads and gives the weights back. */
  @Override
  public void close() {
    runner.close();
    if (arena.scope().isAlive()) arena.close();
  }
}
