package dev.kvasir.cli;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.Sha256;
import dev.kvasir.tierd.TierClient;
import dev.kvasir.tierd.TierDaemon;
import dev.kvasir.tierd.settings.TierSettings;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/**
 * A recorded day of conversations, in order, through the protocol of the daemon, as an engine would
 * ask: the simulator foretells what the tier finds.
 */
@Timeout(300)
@Tag("all")
final class TierTraceTest {
  private static final int CHUNKS_MAX = 5_000;
  private static final int STRIDE = 4 * 4_096;
  private static final int ROWS = 512;

  @TempDir Path temp;

  private final ByteBuffer message = ByteBuffer.allocate(1 << 20).order(LITTLE_ENDIAN);
  private @Nullable TierClient engine;
  private long id;

  private TierSettings settings() {
    var usual = TierSettings.DEFAULT.in(temp);
    return new TierSettings(
        usual.socket(),
        usual.users(),
        List.of(temp),
        0,
        usual.connectionsMax(),
        1,
        (long) CHUNKS_MAX * STRIDE,
        0,
        usual.folder(),
        "lineage",
        Duration.ZERO,
        TierSettings.Load.QUICKER,
        0,
        usual.order(),
        usual.disk(),
        null,
        null,
        null,
        null);
  }

  @Test
  void theSimulatorForetellsTheHitRateAndTheLimitHolds() throws Exception {
    var trace = Path.of(Shared.path("traces/mooncake/conversation_trace.jsonl").toString());
    var settings = settings();
    long requested = 0;
    long found = 0;
    try (var _ = TierDaemon.open(settings);
        var client =
            TierClient.connect(
                settings.socket(), temp.resolve("rows"), ROWS, TierClient.namespace("aa"))) {
      engine = client;
      for (var line : Files.readAllLines(trace)) {
        var keys = keys(line);
        requested += keys.size();
        found += serve(keys);
      }
      var text = client.stats();
      System.out.println("conversation trace through the tier: " + found + " of " + requested);
      assertThat(text).contains("\"host_chunks\":" + CHUNKS_MAX + ",");
      assertThat(text).contains("\"host_chunks_max\":" + CHUNKS_MAX + ",");
    }
    assertThat((double) found / requested).isCloseTo(foretold(trace), within(0.005));
  }

  private static List<byte[]> keys(String line) throws IOException {
    var keys = new ArrayList<byte[]>();
    for (var hash : JsonMapper.shared().readTree(line).path("hash_ids")) {
      keys.add(Sha256.of(("block " + hash.asLong()).getBytes(UTF_8)));
    }
    return keys;
  }

  /** Does what an engine does for one prompt: looks up, loads what is there, stores the rest. */
  private int serve(List<byte[]> keys) throws IOException {
    var look = body(2).putInt(keys.size());
    for (var key : keys) look.put(key).putInt(0);
    var there = request(look);
    int found = 0;
    while (found < there.length && there[found] == 1) found++;
    for (int from = 0; from < found; from += ROWS) {
      int until = Math.min(found, from + ROWS);
      var load = body(4).putInt(until - from);
      for (int i = from; i < until; i++) load.putInt(i - from).put(keys.get(i)).putInt(0);
      assertThat(request(load)).containsOnly(0);
    }
    for (int from = found; from < keys.size(); from += ROWS) {
      int until = Math.min(keys.size(), from + ROWS);
      var store = body(3).put(new byte[16]).put((byte) (from == 0 ? 0 : 1));
      if (from > 0) store.put(keys.get(from - 1)).putInt(0);
      store.putInt(until - from);
      for (int i = from; i < until; i++) {
        store.putInt(i - from).putInt(i).put(keys.get(i)).putInt(0);
      }
      assertThat(request(store)).containsOnly(0);
    }
    return found;
  }

  private ByteBuffer body(int type) {
    return message.clear().put((byte) type).putLong(++id);
  }

  private byte[] request(ByteBuffer body) throws IOException {
    var client = Objects.requireNonNull(engine);
    client.send(body.flip());
    var answer = client.read();
    var each = new byte[answer.getInt(9)];
    answer.position(13).get(each);
    return each;
  }

  private static double foretold(Path trace) {
    var line =
        "simulate --json --cache-only --block-size 512 --total-kv-blocks %s --eviction lineage"
            .formatted(CHUNKS_MAX);
    var words = new ArrayList<>(List.of(line.split(" ", -1)));
    words.addAll(List.of("--trace", trace.toString()));
    var spoken = Spoken.kvasir(words);
    assertThat(spoken.code()).as(spoken.err()).isZero();
    return JsonMapper.shared().readTree(spoken.out()).path("block_hit_rate").asDouble();
  }
}
