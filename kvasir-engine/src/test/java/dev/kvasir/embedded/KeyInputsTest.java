package dev.kvasir.embedded;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.ExtraKey;
import dev.kvasir.kv.name.Sha256Hasher;
import dev.kvasir.kv.name.TokenSequence;
import dev.kvasir.model.Architecture;
import dev.kvasir.model.CpuModel;
import dev.kvasir.model.TinyModel;
import dev.kvasir.model.gguf.TensorType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that everything that changes keys and values of an embedded engine changes the names of its
 * blocks.
 */
class KeyInputsTest {
  private static final int[] TOKENS = IntStream.range(0, 48).toArray();

  @TempDir Path temp;

  private static BlockHash name(String model, String salt, List<ExtraKey> more, int[] tokens) {
    var sequence = new TokenSequence(new Sha256Hasher(model, salt), 16, more);
    sequence.extend(tokens);
    return sequence.hashes().get(1);
  }

  private String fingerprint(UnaryOperator<byte[]> change) throws IOException {
    var tiny = new TinyModel(Architecture.LLAMA, 5).writer(TensorType.F32);
    var file = tiny.write(temp.resolve("tiny.gguf"));
    var changed = Files.createTempFile(temp, "model", ".gguf");
    Files.write(changed, change.apply(Files.readAllBytes(file)));
    try (var model = CpuModel.open(changed, 1)) {
      return model.fingerprint();
    }
  }

  /** Behind a key are the type of its value, four bytes, and the value. */
  private static int value(byte[] file, String key) {
    var wanted = ByteBuffer.wrap(key.getBytes(US_ASCII));
    for (int at = 0; ; at++) {
      if (ByteBuffer.wrap(file, at, wanted.limit()).equals(wanted)) {
        return at + wanted.limit() + Integer.BYTES;
      }
    }
  }

  private static byte[] flipped(byte[] file, int at) {
    file[at] ^= 1;
    return file;
  }

  @Test
  void anyBitOfTheModelsFileIsInTheFingerprintAndItsPlaceIsNot() throws IOException {
    var seen = new HashSet<String>();
    seen.add(fingerprint(file -> file));
    assertThat(fingerprint(file -> file)).as("in another place").isIn(seen);
    seen.add(fingerprint(file -> flipped(file, value(file, "llama.rope.freq_base"))));
    seen.add(
        fingerprint(file -> flipped(file, value(file, "llama.attention.layer_norm_rms_epsilon"))));
    seen.add(fingerprint(file -> flipped(file, file.length / 2)));
    seen.add(fingerprint(file -> flipped(file, file.length - 4)));
    assertThat(seen).hasSize(5);
  }

  @Test
  void modelGenerationSaltAdapterAndTokensAreInEachName() {
    var tokens = TOKENS.clone();
    tokens[0]++;
    var adapter = List.of(new ExtraKey("adapter sha256 aa", 0, 48));
    var other = List.of(new ExtraKey("adapter sha256 ab", 0, 48));
    assertThat(
            List.of(
                name("model", "", List.of(), TOKENS),
                name("another model", "", List.of(), TOKENS),
                name("model\nlocal=1;", "", List.of(), TOKENS),
                name("model\nlocal=2;", "", List.of(), TOKENS),
                name("model", "tenant", List.of(), TOKENS),
                name("model", "other tenant", List.of(), TOKENS),
                name("model", "", adapter, TOKENS),
                name("model", "", other, TOKENS),
                name("model", "", List.of(), tokens)))
        .doesNotHaveDuplicates();
  }
}
