package dev.kvasir.gpu.folder;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.gpu.folder.FolderWriter.NumberType;
import dev.kvasir.gpu.model.GpuShape;
import dev.kvasir.model.BuiltInModel;
import dev.kvasir.model.gguf.GgufFile;
import dev.kvasir.model.gguf.GgufText;
import dev.kvasir.model.gguf.ModelFileException;
import dev.kvasir.model.gguf.TensorType;
import dev.kvasir.text.FolderText;
import dev.kvasir.text.UnsupportedText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("all")
final class ModelFolderTest {
  @TempDir Path folder;

  private Path written(NumberType type, int files) throws IOException {
    var model = folder.resolve("model");
    try (var file = GgufFile.open(BuiltInModel.file(folder))) {
      FolderWriter.write(file, model, type, files);
    }
    return model;
  }

  @ParameterizedTest
  @EnumSource
  void tensorsAreFoundUnderTheNamesOfGguf(NumberType type) throws IOException {
    try (var model = ModelFolder.open(written(type, 1))) {
      var shape = model.shape();
      assertThat(shape.layers()).isEqualTo(8);
      assertThat(shape.vocabulary()).isEqualTo(4096);
      assertThat(shape.pairs()).isEqualTo(GpuShape.RopePairs.HALVES);
      assertThat(model.has("output.weight")).as("the embedding serves for it").isFalse();
      assertThat(model.has("rope_freqs.weight")).isFalse();
      var down = model.tensor("blk.7.ffn_down.weight", 704, 256);
      assertThat(down.count()).isEqualTo(704 * 256);
      assertThat(down.type())
          .isEqualTo(
              switch (type) {
                case F32 -> TensorType.F32;
                case F16 -> TensorType.F16;
                case BF16 -> TensorType.BF16;
              });
    }
  }

  @Test
  void severalFilesAreAsOne() throws IOException {
    byte[] whole;
    try (var model = ModelFolder.open(written(NumberType.BF16, 1))) {
      whole = model.tensor("blk.3.attn_k.weight", 256, 128).bytes().toArray(JAVA_BYTE);
      Files.delete(folder.resolve("model/model.safetensors"));
    }
    try (var model = ModelFolder.open(written(NumberType.BF16, 3))) {
      var parts = model.tensor("blk.3.attn_k.weight", 256, 128).bytes().toArray(JAVA_BYTE);
      assertThat(parts).isEqualTo(whole);
    }
  }

  @Test
  void theFingerprintNamesNumbersAndNotPlaces() throws IOException {
    var first = written(NumberType.F16, 1);
    String name;
    try (var model = ModelFolder.open(first)) {
      name = model.sha256();
    }
    var moved = Files.move(first, folder.resolve("moved"));
    try (var model = ModelFolder.open(moved)) {
      assertThat(model.sha256()).isEqualTo(name);
    }
    try (var model = ModelFolder.open(written(NumberType.BF16, 1))) {
      assertThat(model.sha256()).isNotEqualTo(name);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"rope_theta\":|\"rope_theta\":1",
        "\"rms_norm_eps\":|\"rms_norm_eps\":1",
        "\"eos_token_id\":2|\"eos_token_id\":2,\"rope_scaling\":{\"rope_type\":\"llama3\"}"
      })
  void theConfigurationIsInTheFingerprint(String from, String to) throws IOException {
    var folder = written(NumberType.BF16, 1);
    String name;
    try (var model = ModelFolder.open(folder)) {
      name = model.sha256();
    }
    var config = folder.resolve("config.json");
    var text = Files.readString(config);
    assertThat(text).contains(from);
    Files.writeString(config, text.replace(from, to));
    try (var model = ModelFolder.open(folder)) {
      assertThat(model.sha256()).isNotEqualTo(name);
    }
  }

  @Test
  void theTextIsThatOfTheGgufFile() throws IOException, UnsupportedText {
    var text = FolderText.read(written(NumberType.F16, 1), 4_100);
    try (var file = GgufFile.open(BuiltInModel.file(folder))) {
      var right = GgufText.tokenizer(file);
      for (var each : new String[] {"What does harbor mean?", "  a\n\nb 12,345 naïve 水", ""}) {
        assertThat(text.tokenizer().encode(each)).isEqualTo(right.encode(each));
      }
      assertThat(text.tokenizer().endOfTurn()).isEqualTo(right.endOfTurn());
      assertThat(text.tokenizer().encodeWithSpecials("<|im_start|>x"))
          .isEqualTo(right.encodeWithSpecials("<|im_start|>x"));
    }
    assertThat(text.chat()).isPresent();
    assertThat(text.tokenizer().decode(4_099)).as("a token without a text").isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"llama\"|\"mixtral\"|mixtral",
        "\"head_dim\":32|\"head_dim\":80|80",
        "\"eos_token_id\":2|\"rope_scaling\":{\"rope_type\":\"yarn\"}|yarn",
        "\"eos_token_id\":2|\"quantization_config\":{}|quantization_config",
        "\"hidden_size\":256|\"hidden_size\":0|hidden_size"
      })
  void whatIsNotSupportedIsRefusedByName(String from, String to, String named) throws IOException {
    var model = written(NumberType.BF16, 1);
    var config = model.resolve("config.json");
    var text = Files.readString(config);
    assertThat(text).contains(from);
    Files.writeString(config, text.replace(from, to));
    assertThatThrownBy(() -> ModelFolder.open(model))
        .isInstanceOf(ModelFileException.class)
        .hasMessageContaining(named)
        .hasMessageContaining("config.json");
  }

  @Test
  void positionsAreStretchedAsLlama3Does() throws IOException {
    var model = written(NumberType.BF16, 1);
    var config = model.resolve("config.json");
    var scaling =
        "\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,"
            + "\"high_freq_factor\":4,\"original_max_position_embeddings\":512}";
    Files.writeString(config, Files.readString(config).replace("\"eos_token_id\":2", scaling));
    var divisors = ModelConfig.read(model).divisors();
    // 512 positions are 81 turns of the quickest frequency, and less than one of the slowest.
    assertThat(divisors[0]).isEqualTo(1);
    assertThat(divisors[15]).isEqualTo(8);
    // 2.58 turns: 0.526 of the way from wholly to not.
    assertThat(divisors[6]).isCloseTo(1.709f, within(0.01f));
    try (var opened = ModelFolder.open(model)) {
      assertThat(opened.has("rope_freqs.weight")).isTrue();
      assertThat(opened.tensor("rope_freqs.weight", 16).count()).isEqualTo(16);
    }
  }

  @Test
  void brokenFilesAreRefused() throws IOException {
    var model = written(NumberType.BF16, 1);
    var file = model.resolve("model.safetensors");
    var bytes = Files.readAllBytes(file);
    var length = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    length.putLong(0, Long.MAX_VALUE);
    Files.write(file, bytes);
    assertRefused(model, "head");
    Files.write(file, new byte[3]);
    assertRefused(model, "3 bytes");
    Files.write(file, head("{\"a\":{\"dtype\":\"F32\",\"shape\":[9],\"data_offsets\":[0,36]}}"));
    assertRefused(model, "0 to 36 of 0 bytes");
    Files.write(file, head("[no"));
    assertRefused(model, "no JSON");
    Files.write(file, head("{}"));
    try (var opened = ModelFolder.open(model)) {
      assertThatThrownBy(() -> opened.tensor("output_norm.weight", 256))
          .hasMessageContaining("model.norm.weight");
    }
    Files.delete(file);
    assertRefused(model, "no such file");
  }

  @Test
  void aTypeThatIsNotReadIsNamed() throws IOException {
    var model = written(NumberType.BF16, 1);
    var tensor = "{\"dtype\":\"F8_E4M3\",\"shape\":[256],\"data_offsets\":[0,0]}";
    Files.write(model.resolve("model.safetensors"), head("{\"model.norm.weight\":" + tensor + "}"));
    try (var opened = ModelFolder.open(model)) {
      assertThatThrownBy(() -> opened.tensor("output_norm.weight", 256))
          .hasMessageContaining("F8_E4M3")
          .hasMessageContaining("use a model in BF16, F16 or F32");
      assertThatThrownBy(() -> opened.tensor("output_norm.weight", 128))
          .hasMessageContaining("[256], expected [128]");
    }
  }

  private static byte[] head(String json) {
    var text = json.getBytes(UTF_8);
    return ByteBuffer.allocate(8 + text.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(text.length)
        .put(text)
        .array();
  }

  private static void assertRefused(Path model, String why) {
    assertThatThrownBy(() -> ModelFolder.open(model))
        .isInstanceOf(ModelFileException.class)
        .hasMessageContaining(why);
  }
}
