package dev.kvasir.events;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Sha256Hasher;
import dev.kvasir.kv.name.TokenSequence;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.router.Router;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.index.KvFeed;
import dev.kvasir.router.pick.RoundRobinPick;
import dev.kvasir.router.placement.NeverOffload;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.view.Instance;
import dev.kvasir.testing.SharedFiles;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Recorded events of a real vLLM foretell what it answered as cached. */
class VllmEventsTest {
  /** The router's own: the blocks of the recorded vLLM have 32 tokens. */
  private static final int UNIT_TOKENS = 16;

  @ParameterizedTest
  @ValueSource(strings = {"vllm-0.32-blocks32", "vllm-0.32-evicting"})
  void theEventsOfARealVllmForetellWhatItAnswersAsCached(String name) throws IOException {
    var file = SharedFiles.of("oracle/vllm-events/" + name + ".jsonl.gz");
    try (var loop = new LiveLoop("router");
        var zipped = new GZIPInputStream(Files.newInputStream(file));
        var lines = new BufferedReader(new InputStreamReader(zipped, StandardCharsets.UTF_8))) {
      var replayed = Await.on(loop, () -> new Recording(loop, lines.lines().toList()).replay());
      assertThat(replayed).hasSizeGreaterThan(30);
      assertThat(replayed)
          .allSatisfy(each -> assertThat(each.expected()).isEqualTo(each.reported()));
    }
  }

  private record Foretold(int line, int expected, int reported) {}

  /** One recording, read as a gateway would have heard it. */
  private static final class Recording {
    private final List<String> lines;
    private final Router router;
    private final int instance;
    private final EngineBlocks blocks;
    private final KvFeed<EngineEvent> feed;
    private final EventDecoder decoder = new EventDecoder(EventLimits.DEFAULT);

    Recording(LiveLoop loop, List<String> lines) {
      this.lines = lines;
      var placement = new NeverOffload(PlacementSettings.DEFAULT);
      var settings = RouterSettings.DEFAULT.withBlockTokens(UNIT_TOKENS);
      this.router = new Router(loop, settings, new RoundRobinPick(), placement);
      this.instance = router.add(Instance.of("vllm"));
      this.blocks =
          new EngineBlocks(
              (_, salt) -> new Sha256Hasher("model", salt),
              UNIT_TOKENS,
              10_000,
              KvFeed.into(router.index(), instance));
      this.feed = new KvFeed<>(loop, KvFeed.Limits.DEFAULT, blocks, _ -> {});
    }

    /** The line of a request stands behind the events that it caused. */
    List<Foretold> replay() {
      var foretold = new ArrayList<Foretold>();
      var caused = new ArrayList<JsonNode>();
      for (int line = 0; line < lines.size(); line++) {
        var read = JsonMapper.shared().readTree(lines.get(line));
        if (read.has("frames")) {
          caused.add(read);
          continue;
        }
        foretold.add(new Foretold(line, expected(read), read.path("cached_tokens").asInt()));
        caused.forEach(this::read);
        caused.clear();
      }
      assertThat(blocks.dropped()).isEmpty();
      assertThat(feed.gaps()).isZero();
      return foretold;
    }

    private void read(JsonNode frames) {
      var number = Base64.getDecoder().decode(frames.path("frames").path(1).asString());
      var payload = Base64.getDecoder().decode(frames.path("frames").path(2).asString());
      var batch = ((EventDecoder.Outcome.Decoded) decoder.decode(payload)).batch();
      feed.accept(ByteBuffer.wrap(number).getLong(), batch.stampNanos(), batch.events());
    }

    private int expected(JsonNode read) {
      var request = read.path("request");
      int length = read.path("prompt_tokens").asInt();
      var salt = request.path("cache_salt").asString("");
      var sequence = new TokenSequence(new Sha256Hasher("model", salt), UNIT_TOKENS);
      for (int i = 0; i < length; i++) sequence.append(request.path("prompt").path(i).asInt());
      List<BlockHash> names = sequence.hashes();
      var cached = router.index().usable(instance, names, length, UNIT_TOKENS);
      return cached.total() * UNIT_TOKENS;
    }
  }
}
