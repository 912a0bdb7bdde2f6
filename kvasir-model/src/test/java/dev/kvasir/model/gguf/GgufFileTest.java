package dev.kvasir.model.gguf;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.model.CpuModel;
import dev.kvasir.model.PocketModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GgufFileTest {
  private static final int FLIPS = 300 * Integer.getInteger("kvasir.scale", 1);

  @TempDir Path folder;

  private static GgufWriter small() {
    return TestVocabulary.into(new GgufWriter())
        .text("general.architecture", "llama")
        .number("llama.block_count", 1)
        .number("llama.context_length", 32)
        .number("llama.embedding_length", 32)
        .number("llama.feed_forward_length", 32)
        .number("llama.attention.head_count", 1)
        .tensor("token_embd.weight", TensorType.F16, new float[32 * 264], 32, 264)
        .tensor("output_norm.weight", TensorType.F32, new float[32], 32);
  }

  private Path file(byte[] bytes) throws IOException {
    return Files.write(folder.resolve("some.gguf"), bytes);
  }

  private void refused(byte[] bytes, String... why) throws IOException {
    var path = file(bytes);
    assertThatThrownBy(() -> GgufFile.open(path).close())
        .isInstanceOf(ModelFileException.class)
        .hasMessageContaining("some.gguf")
        .satisfies(e -> assertThat(List.of(why)).allMatch(e.toString()::contains))
        .message()
        .doesNotContain("\n");
  }

  @Test
  void whatWasWrittenIsRead() throws IOException {
    var values = new float[64];
    for (int i = 0; i < 64; i++) values[i] = (i - 32) / 8f;
    var path =
        file(
            new GgufWriter()
                .text("a", "b")
                .number("n", 7)
                .decimal("d", 0.5f)
                .tensor("q8", TensorType.Q8_0, values, 32, 2)
                .tensor("q4", TensorType.Q4_0, values, 32, 2)
                .tensor("bf", TensorType.BF16, values, 32, 2)
                .tensor("f16", TensorType.F16, values, 32, 2)
                .toArray());
    try (var file = GgufFile.open(path)) {
      assertThat(file.metadata().text("a")).isEqualTo("b");
      assertThat(file.metadata().number("n", 0, 9)).isEqualTo(7);
      assertThat(file.metadata().decimal("d", 1)).isEqualTo(0.5f);
      for (var name : new String[] {"q8", "q4", "bf", "f16"}) {
        var row = new float[32];
        file.tensor(name, 32, 2).row(1, row, 0);
        double near = name.equals("q4") ? 0.3 : name.equals("q8") ? 0.02 : 0;
        for (int i = 0; i < 32; i++) {
          assertThat(Math.abs(row[i] - values[32 + i])).as(name).isLessThanOrEqualTo((float) near);
        }
      }
      assertThatThrownBy(() -> file.tensor("q8", 2, 32)).hasMessageContaining("shape [32, 2]");
      assertThatThrownBy(() -> file.metadata().number("n", 8, 9)).hasMessageContaining("n is 7");
      assertThatThrownBy(() -> file.metadata().text("n")).hasMessageContaining("a text");
    }
  }

  @Test
  void whatIsNoModelFileIsRefused() throws IOException {
    refused(new byte[0], "it ends at byte 0");
    refused("just some text, longer than a head".getBytes(UTF_8), "not a GGUF file");
    refused(new GgufWriter.Bytes().number(0x46554747).number(2).toArray(), "version 2");
    assertThatThrownBy(() -> GgufFile.open(folder)).hasMessageContaining("no such file");
    assertThatThrownBy(() -> GgufFile.open(folder.resolve("missing.gguf")))
        .hasMessageContaining("missing.gguf: there is no such file; name a model");
  }

  @Test
  void aFileCutShortAnywhereIsRefused() throws IOException {
    var bytes = small().toArray();
    int step = Math.max(1, bytes.length / 400);
    for (int length = 0; length < bytes.length - 32; length += step) {
      refused(Arrays.copyOf(bytes, length));
    }
    file(bytes);
    GgufFile.open(folder.resolve("some.gguf")).close();
  }

  @Test
  void theBuiltInModelCutShortIsRefused() throws IOException {
    var bytes = Files.readAllBytes(PocketModel.file());
    for (int length : new int[] {3, 30, 1_000, 100_000, 131_000, 5_000_000, bytes.length - 40}) {
      refused(Arrays.copyOf(bytes, length));
    }
  }

  /** Some flips do no harm; what matters is that none does worse than a clear refusal. */
  @Test
  void flippedBytesAreReadOrRefused() throws IOException {
    var bytes = small().toArray();
    int head = bytes.length - 32 * 264 * 2 - 32 * 4;
    var random = new SplittableRandom(42);
    for (int i = 0; i < FLIPS; i++) {
      var broken = bytes.clone();
      for (int flip = random.nextInt(1, 4); flip > 0; flip--) {
        int at = random.nextInt(3) == 0 ? random.nextInt(64) : random.nextInt(head);
        broken[at] = (byte) (random.nextBoolean() ? random.nextInt() : 0xff);
      }
      var path = file(broken);
      try {
        var _ = GgufText.tokenizer(path);
        CpuModel.open(path, 1).close();
      } catch (ModelFileException refused) {
        assertThat(refused).hasMessageContaining("some.gguf").message().doesNotContain("\n");
      }
    }
  }

  @Test
  void hugeCountsAllocateNothing() throws IOException {
    var begin = new GgufWriter.Bytes().number(0x46554747).number(3);
    refused(begin.big(Long.MAX_VALUE).big(0).toArray(), "the number of tensors");
    var keys = new GgufWriter.Bytes().number(0x46554747).number(3).big(0).big(60_000);
    refused(keys.toArray(), "the number of metadata keys is 60000, but only 0 bytes follow");
    var negative = new GgufWriter.Bytes().number(0x46554747).number(3).big(0).big(-1);
    refused(negative.toArray(), "18446744073709551615");
    var list = new GgufWriter.Bytes().number(8).big(1 << 20);
    refused(new GgufWriter().entry("texts", 9, list).toArray(), "the length of the list texts");
    var text = new GgufWriter.Bytes().big(1L << 40);
    refused(new GgufWriter().entry("text", 8, text).toArray(), "the length of text");
    refused(new GgufWriter().tensor("t", 0, new byte[64], 1 << 30, 1 << 30).toArray(), "tensor t");
    refused(new GgufWriter().tensor("t", 0, new byte[64], 4, 0).toArray(), "a dimension of 0");
  }

  @Test
  void oddTensorsAreNamed() throws IOException {
    refused(new GgufWriter().tensor("t", 12, new byte[64], 8).toArray(), "type 12", "Q8_0");
    refused(new GgufWriter().tensor("t", 8, new byte[64], 31).toArray(), "rows of 31");
    refused(new GgufWriter().tensor("t", 0, new byte[64], 1, 1, 1, 1, 1).toArray(), "5 dimensions");
    refused(
        new GgufWriter().tensor("t", 0, new byte[4], 1).tensor("t", 0, new byte[4], 1).toArray(),
        "tensor t stands twice");
    refused(new GgufWriter().tensor("t", 0, new byte[32], 100).toArray(), "before the end of");
    refused(new GgufWriter().number("k", 1).number("k", 1).toArray(), "the key k stands twice");
    refused(
        new GgufWriter().text("a\nb", "c").text("a\nb", "c").toArray(), "the key a?b stands twice");
  }
}
