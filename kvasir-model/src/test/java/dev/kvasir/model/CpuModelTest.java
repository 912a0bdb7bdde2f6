package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.model.compute.ScalarKernels;
import dev.kvasir.model.compute.VectorKernels;
import dev.kvasir.model.gguf.ModelFileException;
import dev.kvasir.model.gguf.TensorType;
import dev.kvasir.model.gguf.TestVocabulary;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CpuModelTest {
  private static final int SEEDS = 4 * Integer.getInteger("kvasir.scale", 1);
  private static final int PROMPTS = 32;

  @TempDir Path folder;

  private Path tiny(Architecture architecture, TensorType type) {
    return new TinyModel(architecture, 1).writer(type).write(folder.resolve(type + ".gguf"));
  }

  private static int[] prompt(SplittableRandom random, int length, int vocabulary) {
    return random.ints(length, 0, vocabulary).toArray();
  }

  @ParameterizedTest
  @EnumSource
  void everyArchitectureAgreesWithTheMathematics(Architecture architecture) throws IOException {
    var tiny = new TinyModel(architecture, 7);
    agrees(tiny, tiny.writer(TensorType.F32).write(folder.resolve("own-head.gguf")));
    tiny.tied();
    agrees(tiny, tiny.writer(TensorType.F32).write(folder.resolve("tied.gguf")));
  }

  private static void agrees(TinyModel tiny, Path file) throws IOException {
    var prompt = prompt(new SplittableRandom(3), 40, TestVocabulary.SIZE);
    var expected = new DenseForward(tiny).logits(prompt);
    try (var model = CpuModel.open(file, 2);
        var memory = Sequences.memory(model, 4)) {
      var logits = Sequences.logits(model, memory, Sequences.slots(0, 4), prompt);
      for (int i = 0; i < logits.length; i++) {
        assertThat((double) logits[i]).isCloseTo(expected[i], within(1e-4));
      }
    }
  }

  /** The weights of a coarse type are others, so each is held against its own decoding. */
  @ParameterizedTest
  @EnumSource
  void everyTypeOfTensorsIsReadByBothKernelsAlike(TensorType type) throws IOException {
    var prompt = prompt(new SplittableRandom(4), 21, TestVocabulary.SIZE);
    var file = tiny(Architecture.LLAMA, type);
    try (var vectors = CpuModel.open(file, 1, new VectorKernels());
        var plain = CpuModel.open(file, 1, new ScalarKernels());
        var exact = CpuModel.open(tiny(Architecture.LLAMA, TensorType.F32), 1);
        var memory = Sequences.memory(vectors, 2)) {
      var slots = Sequences.slots(0, 2);
      var logits = Sequences.logits(vectors, memory, slots, prompt);
      assertThat(logits).isEqualTo(Sequences.logits(plain, memory, slots, prompt));
      var near = Sequences.logits(exact, memory, slots, prompt);
      double far = type == TensorType.Q4_0 ? 3 : type == TensorType.F32 ? 0 : 0.2;
      for (int i = 0; i < near.length; i++) {
        assertThat((double) logits[i]).isCloseTo(near[i], within(far));
      }
    }
  }

  @Test
  void vectorsAndPlainLoopsGiveTheSameBits() throws IOException {
    var prompt = prompt(new SplittableRandom(5), 100, 4096);
    try (var vectors = CpuModel.open(PocketModel.file(), 1, new VectorKernels());
        var plain = CpuModel.open(PocketModel.file(), 1, new ScalarKernels());
        var memory = Sequences.memory(vectors, 7)) {
      var slots = Sequences.slots(0, 7);
      var logits = Sequences.logits(vectors, memory, slots, prompt);
      assertThat(Sequences.logits(plain, memory, slots, prompt)).isEqualTo(logits);
    }
  }

  @Test
  void computingPlainlyForAWhileChangesNoBit() throws IOException {
    var prompt = prompt(new SplittableRandom(6), 40, 4096);
    try (var model = CpuModel.open(PocketModel.file(), 2);
        var memory = Sequences.memory(model, 3)) {
      var slots = Sequences.slots(0, 3);
      var logits = Sequences.logits(model, memory, slots, prompt);
      model.computePlainly(() -> {});
      assertThat(Sequences.logits(model, memory, slots, prompt)).isEqualTo(logits);
      model.computeFully();
      assertThat(Sequences.logits(model, memory, slots, prompt)).isEqualTo(logits);
    }
  }

  @Test
  void aLongStepIsNotComputedPlainlyButHurriesWhoeverPreparesVectors() throws IOException {
    var prompt = prompt(new SplittableRandom(6), 80, 4096);
    try (var model = CpuModel.open(PocketModel.file(), 2);
        var memory = Sequences.memory(model, 5)) {
      var slots = Sequences.slots(0, 5);
      var hurried = new AtomicInteger();
      model.computePlainly(
          () -> {
            hurried.incrementAndGet();
            model.computeFully();
          });
      var logits = Sequences.logits(model, memory, slots, prompt);
      assertThat(hurried).hasValue(1);
      assertThat(Sequences.logits(model, memory, slots, prompt)).isEqualTo(logits);
      assertThat(hurried).hasValue(1);
    }
  }

  /**
   * Alone and whole, against batches of all in random chunks at random places, by 1 to 3 threads.
   */
  @Test
  void batchesChunksPlacesAndThreadsChangeNoBit() throws IOException {
    for (int threads = 1; threads <= 3; threads++) {
      try (var model = CpuModel.open(PocketModel.file(), threads);
          var memory = Sequences.memory(model, 6 * PROMPTS)) {
        for (long seed = threads; seed <= SEEDS; seed += 3) interleaved(model, memory, seed);
      }
    }
  }

  private static void interleaved(CpuModel model, TestMemory memory, long seed) {
    var random = new SplittableRandom(seed);
    var prompts = new ArrayList<int[]>();
    var alone = new ArrayList<float[]>();
    for (int i = 0; i < PROMPTS; i++) {
      prompts.add(prompt(random, random.nextInt(1, 97), model.shape().vocabulary()));
      alone.add(Sequences.logits(model, memory, Sequences.slots(0, 6), prompts.get(i)));
    }
    var slots = new ArrayList<Integer>();
    for (int slot : Sequences.slots(0, 6 * PROMPTS)) slots.add(slot);
    Collections.shuffle(slots, new Random(seed));
    fillWithNoNumbers(memory);
    var done = new int[PROMPTS];
    var logits = new float[PROMPTS][model.shape().vocabulary()];
    while (step(model, memory, prompts, slots, done, logits, random)) {}
    for (int i = 0; i < PROMPTS; i++) {
      assertThat(logits[i]).as("seed %d, prompt %d", seed, i).isEqualTo(alone.get(i));
    }
  }

  /** Fills the memory with NaN, since what nobody wrote must not be read. */
  private static void fillWithNoNumbers(TestMemory memory) {
    for (int slot = 0; slot < memory.blocks(); slot++) {
      var block = memory.slot(slot);
      for (long at = 0; at < block.byteSize(); at += 4) {
        block.set(ValueLayout.JAVA_FLOAT, at, Float.NaN);
      }
    }
  }

  private static boolean step(
      CpuModel model,
      TestMemory memory,
      List<int[]> prompts,
      List<Integer> slots,
      int[] done,
      float[][] logits,
      SplittableRandom random) {
    var rows = new ArrayList<StepRow>();
    var into = new ArrayList<float[]>();
    for (int i = 0; i < PROMPTS; i++) {
      int left = prompts.get(i).length - done[i];
      if (left == 0 || random.nextInt(4) == 0) continue;
      int chunk = random.nextInt(2) == 0 ? 1 : random.nextInt(1, left + 1);
      var tokens = java.util.Arrays.copyOfRange(prompts.get(i), done[i], done[i] + chunk);
      var mine = slots.subList(6 * i, 6 * i + 6).stream().mapToInt(Integer::intValue).toArray();
      rows.add(new StepRow(tokens, done[i], mine, chunk == left));
      into.add(logits[i]);
      done[i] += chunk;
    }
    model.forward(rows, memory, into.toArray(float[][]::new));
    for (int i = 0; i < PROMPTS; i++) if (done[i] < prompts.get(i).length) return true;
    return false;
  }

  @Test
  void aRowMayReadWhatAnotherWritesInTheSameStep() throws IOException {
    var prompt = prompt(new SplittableRandom(9), 40, 4096);
    try (var model = CpuModel.open(PocketModel.file(), 2);
        var memory = Sequences.memory(model, 8)) {
      var alone = Sequences.logits(model, memory, Sequences.slots(0, 3), prompt);
      var first = java.util.Arrays.copyOf(prompt, 32);
      var rest = java.util.Arrays.copyOfRange(prompt, 32, 40);
      var logits = new float[2][4096];
      model.forward(
          List.of(
              new StepRow(rest, 32, new int[] {4, 5, 6}, true),
              new StepRow(first, 0, new int[] {4, 5}, false)),
          memory,
          logits);
      assertThat(logits[0]).isEqualTo(alone);
    }
  }

  @Test
  void rowsThatMakeNoSenseAreBugs() throws IOException {
    try (var model = CpuModel.open(tiny(Architecture.LLAMA, TensorType.F32), 2);
        var memory = Sequences.memory(model, 9);
        var narrow = new TestMemory(9, 64)) {
      int size = TestVocabulary.SIZE;
      var one = new StepRow(new int[] {1}, 0, new int[] {0}, true);
      refused(model, memory, new StepRow(new int[] {size}, 0, new int[] {0}, true), "no token");
      refused(model, memory, new StepRow(new int[] {-1}, 0, new int[] {0}, true), "no token");
      refused(model, memory, new StepRow(new int[] {1}, 0, new int[] {9}, true), "no slot 9");
      refused(model, memory, new StepRow(new int[129], 0, new int[9], true), "the context at 128");
      refused(model, narrow, one, "bytes");
      assertThatThrownBy(() -> model.forward(List.of(one, one), memory, new float[2][size]))
          .hasMessageContaining("both write block 0");
      assertThatThrownBy(() -> new StepRow(new int[17], 0, new int[1], true))
          .hasMessageContaining("do not fit");
    }
  }

  private static void refused(CpuModel model, TestMemory memory, StepRow row, String why) {
    assertThatThrownBy(() -> Sequences.step(model, memory, row))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why);
  }

  @Test
  void aClosedModelSaysSo() throws IOException {
    var model = CpuModel.open(tiny(Architecture.LLAMA, TensorType.F32), 2);
    try (var memory = Sequences.memory(model, 1)) {
      model.close();
      model.close();
      assertThatThrownBy(() -> Sequences.logits(model, memory, new int[1], 1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
  }

  @Test
  void wrongShapesAndMissingTensorsAreNamed() {
    var tiny = new TinyModel(Architecture.LLAMA, 1);
    tiny.tensors.remove("blk.1.ffn_up.weight");
    var missing = tiny.writer(TensorType.F16).write(folder.resolve("missing.gguf"));
    assertThatThrownBy(() -> CpuModel.open(missing, 1))
        .isInstanceOf(ModelFileException.class)
        .hasMessageContaining("missing.gguf: it has no tensor blk.1.ffn_up.weight");
    var wrong =
        new TinyModel(Architecture.LLAMA, 1)
            .writer(TensorType.F16)
            .number("llama.expert_count", 8)
            .write(folder.resolve("experts.gguf"));
    assertThatThrownBy(() -> CpuModel.open(wrong, 1)).hasMessageContaining("mixtures of experts");
    var qwen = new TinyModel(Architecture.QWEN2, 1);
    qwen.tensors.remove("blk.0.attn_q.bias");
    var biased = qwen.writer(TensorType.F16).write(folder.resolve("bias.gguf"));
    assertThatThrownBy(() -> CpuModel.open(biased, 1)).hasMessageContaining("blk.0.attn_q.bias");
  }
}
