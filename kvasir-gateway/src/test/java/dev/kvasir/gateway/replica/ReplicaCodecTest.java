package dev.kvasir.gateway.replica;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.journal.NameKey;
import dev.kvasir.router.limit.KeyLimits;
import dev.kvasir.router.limit.KeyRow;
import dev.kvasir.router.replica.ReplicaMessage;
import dev.kvasir.router.replica.ReplicaMessage.Home;
import dev.kvasir.router.replica.ReplicaMessage.Kind;
import dev.kvasir.router.replica.ReplicaMessage.WorkerRow;
import dev.kvasir.router.view.BookedLoad;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ReplicaCodecTest {
  private static final NameKey SECRET = NameKey.of("a secret of all gateways");
  private static final ReplicaMessage MESSAGE =
      new ReplicaMessage(
          "host:8000",
          1_700_000_000_000L,
          42,
          Kind.WHOLE,
          List.of("version=1", "naming=tokens"),
          List.of(
              new WorkerRow("w\"1", new BookedLoad(1, 2, 3, 4_000_000_000L, 5, 6, 7, 8), 9),
              new WorkerRow("w2", BookedLoad.NONE, 0)),
          List.of(new KeyRow("k", new KeyLimits(60, 1_000, 4), 7, -8, 2, 53.25, -1.5)),
          List.of(new Home("s1", "w2"), new Home("s2", "")));

  private final ReplicaCodec codec = new ReplicaCodec(SECRET, "http://host:8000");

  @Test
  void aMessageComesBackAsItWas() {
    assertThat(codec.decode(codec.encode(MESSAGE)))
        .isEqualTo(new ReplicaCodec.Received(MESSAGE, "http://host:8000"));
  }

  @Test
  void aMessageOfAnotherSecretIsNone() {
    var other = new ReplicaCodec(NameKey.of("another"), "");
    assertThat(other.decode(codec.encode(MESSAGE))).isNull();
  }

  @Test
  void bytesOfChanceAndChangedOnesAreNoMessage() {
    var random = new SplittableRandom(Long.getLong("kvasir.seed", 1));
    var good = codec.encode(MESSAGE);
    for (int i = 0; i < 5_000; i++) {
      var bytes = Arrays.copyOf(good, random.nextInt(good.length + 8));
      if (bytes.length > 0) bytes[random.nextInt(bytes.length)] ^= (byte) (1 + random.nextInt(255));
      if (!Arrays.equals(bytes, good)) assertThat(codec.decode(bytes)).isNull();
    }
  }

  @Test
  void whatIsSealedButNoMessageIsNone() {
    var texts =
        List.of(
            "",
            "[]",
            "{}",
            "{\"form\":2}",
            "{\"form\":1,\"kind\":\"NEWS\"}",
            "{\"form\":1,\"kind\":\"WHOLE\",\"workers\":[[\"w\"]]}",
            "{\"form\":1,\"kind\":\"WHOLE\",\"workers\":[[\"w\",0,-1,0,0,0,0,0,0,0]]}",
            "{\"form\":1,\"kind\":\"WHOLE\",\"keys\":[[\"k\",0,0,0,0,0,0,0,0]]}",
            "[".repeat(100_000));
    for (var text : texts) {
      var json = text.getBytes(StandardCharsets.UTF_8);
      var bytes = Arrays.copyOf(SECRET.seal(json), 32 + json.length);
      System.arraycopy(json, 0, bytes, 32, json.length);
      assertThat(codec.decode(bytes)).as(text.substring(0, Math.min(80, text.length()))).isNull();
    }
  }
}
