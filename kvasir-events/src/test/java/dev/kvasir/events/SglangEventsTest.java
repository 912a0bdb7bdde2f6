package dev.kvasir.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.Seeds;
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
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.random.RandomGenerator;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A cache that tells its pages as SGLang does: one event for each page, with the page before as its
 * parent, as arrays; leaves are dropped with all their pages.
 */
class SglangEventsTest {
  private static final int UNIT_TOKENS = 16;
  private static final int PROMPT_TOKENS = 120;

  @ParameterizedTest
  @ValueSource(ints = {1, 16, 32, 128})
  void thePagesThatItTellsForetellWhatItHasCached(int pageTokens) {
    Seeds.each(
        3 * Seeds.scale(),
        random -> {
          try (var loop = new LiveLoop("router")) {
            Await.on(loop, () -> walk(new Radix(loop, random, pageTokens)));
          }
        });
  }

  /**
   * Batches of SGLang's own RadixCache and recorder with EAGLE, where a position is a pair of
   * tokens: it finds a page only if the token behind it is the same too, so that one page more may
   * be expected where a prompt parts or ends just there.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 16})
  void thePairsOfARealSglangForetellWhatItHasCached(int pageTokens) throws IOException {
    var name = "/sglang/eagle-" + pageTokens + ".jsonl.gz";
    try (var in = new GZIPInputStream(SglangEventsTest.class.getResourceAsStream(name));
        var loop = new LiveLoop("router")) {
      var lines = new String(in.readAllBytes(), UTF_8).lines().toList();
      var all = Await.on(loop, () -> new Recorded(loop).replay(lines));
      assertThat(all).hasSizeGreaterThan(80);
      assertThat(all.stream().filter(each -> each.reported() > 0)).hasSizeGreaterThan(30);
      assertThat(all)
          .allSatisfy(
              each ->
                  assertThat(each.expected() - each.reported())
                      .isBetween(pageTokens == 1 ? 1 - UNIT_TOKENS : 0, UNIT_TOKENS));
      var exact = all.stream().filter(each -> each.expected() == each.atUnits());
      assertThat(exact.count()).isGreaterThan(all.size() * 9L / 10);
    }
  }

  private record Foretold(int expected, int reported) {
    /** The blocks told, as far as whole units go. */
    int atUnits() {
      return reported - reported % UNIT_TOKENS;
    }
  }

  /** A recording, read as a gateway would have heard it. */
  private static final class Recorded {
    private final Router router;
    private final int instance;
    private final EngineBlocks blocks;
    private final EventDecoder decoder = new EventDecoder(EventLimits.DEFAULT);

    Recorded(LiveLoop loop) {
      var placement = new NeverOffload(PlacementSettings.DEFAULT);
      this.router = new Router(loop, RouterSettings.DEFAULT, new RoundRobinPick(), placement);
      this.instance = router.add(Instance.of("sglang"));
      this.blocks =
          new EngineBlocks(
              (_, salt) -> new Sha256Hasher("model", salt),
              UNIT_TOKENS,
              100_000,
              KvFeed.into(router.index(), instance));
    }

    List<Foretold> replay(List<String> lines) {
      var all = new ArrayList<Foretold>();
      for (var line : lines) {
        var read = JsonMapper.shared().readTree(line);
        if (read.has("frames")) read(read.path("frames").path(2).asString());
        else all.add(new Foretold(expected(read), read.path("cached_tokens").asInt()));
      }
      assertThat(blocks.dropped()).isEmpty();
      return all;
    }

    private void read(String payload) {
      var outcome = decoder.decode(Base64.getDecoder().decode(payload));
      var decoded = (EventDecoder.Outcome.Decoded) outcome;
      assertThat(decoded.unreadable()).isZero();
      decoded.batch().events().forEach(blocks::on);
    }

    private int expected(JsonNode read) {
      var prompt = read.path("request").path("prompt");
      var sequence = new TokenSequence(new Sha256Hasher("model", ""), UNIT_TOKENS);
      for (var token : prompt) sequence.append(token.asInt());
      var usable = router.index().usable(instance, sequence.hashes(), prompt.size(), UNIT_TOKENS);
      return usable.total() * UNIT_TOKENS;
    }
  }

  private static int walk(Radix radix) {
    for (int i = 0; i < 120; i++) {
      if (radix.random.nextInt(3) > 0) radix.insert();
      else radix.evict();
      radix.compare();
    }
    assertThat(radix.blocks.dropped()).isEmpty();
    return radix.blocks.size();
  }

  /** Prompts cached page by page, and the events published about them. */
  private static final class Radix {
    private final RandomGenerator random;
    private final int pageTokens;
    private final Router router;
    private final int instance;
    private final EngineBlocks blocks;
    private final EventDecoder decoder = new EventDecoder(EventLimits.DEFAULT);

    /** The name of each page, by the prompt up to its end. */
    private final Map<List<Integer>, Long> pages = new LinkedHashMap<>();

    private long named = Long.MIN_VALUE;

    Radix(LiveLoop loop, RandomGenerator random, int pageTokens) {
      this.random = random;
      this.pageTokens = pageTokens;
      var placement = new NeverOffload(PlacementSettings.DEFAULT);
      this.router = new Router(loop, RouterSettings.DEFAULT, new RoundRobinPick(), placement);
      this.instance = router.add(Instance.of("sglang"));
      this.blocks =
          new EngineBlocks(
              (_, salt) -> new Sha256Hasher("model", salt),
              UNIT_TOKENS,
              100_000,
              KvFeed.into(router.index(), instance));
    }

    /** Prompts part at few places, so that they have much in common. */
    private List<Integer> prompt() {
      int length = pageTokens + random.nextInt(PROMPT_TOKENS + 2 * pageTokens);
      var tokens = new ArrayList<Integer>();
      for (int i = 0; i < length; i++) tokens.add(i % 13 == 5 ? random.nextInt(2) : 9);
      return tokens;
    }

    void insert() {
      var tokens = prompt();
      var events = new ArrayList<byte[]>();
      Long parent = null;
      for (int end = pageTokens; end <= tokens.size(); end += pageTokens) {
        var prefix = List.copyOf(tokens.subList(0, end));
        var known = pages.get(prefix);
        if (known == null) {
          known = named++ * 31;
          pages.put(prefix, known);
          events.add(stored(known, parent, prefix.subList(end - pageTokens, end)));
        }
        parent = known;
      }
      publish(events);
    }

    /** Drops the last pages of a prompt that none goes on from, down to where another parts. */
    void evict() {
      var leaves = pages.keySet().stream().filter(page -> followers(page) == 0).toList();
      if (leaves.isEmpty()) return;
      var leaf = leaves.get(random.nextInt(leaves.size()));
      var events = new ArrayList<byte[]>();
      for (var page = leaf; !page.isEmpty() && followers(page) == 0; ) {
        long name = Objects.requireNonNull(pages.remove(page));
        events.addFirst(removed(name));
        page = page.subList(0, page.size() - pageTokens);
      }
      publish(events);
    }

    private long followers(List<Integer> page) {
      return pages.keySet().stream()
          .filter(other -> other.size() == page.size() + pageTokens)
          .filter(other -> other.subList(0, page.size()).equals(page))
          .count();
    }

    void compare() {
      var tokens = prompt();
      int cached = 0;
      while (pages.containsKey(tokens.subList(0, Math.min(tokens.size(), cached + pageTokens)))
          && cached + pageTokens <= tokens.size()) {
        cached += pageTokens;
      }
      cached = Math.min(cached, tokens.size() - 1);
      cached -= cached % pageTokens;
      var sequence = new TokenSequence(new Sha256Hasher("model", ""), UNIT_TOKENS);
      tokens.forEach(sequence::append);
      List<BlockHash> names = sequence.hashes();
      int units = router.index().usable(instance, names, tokens.size(), UNIT_TOKENS).total();
      int expected = Math.min(units * UNIT_TOKENS, tokens.size() - 1);
      // Pages that are smaller than a unit are known up to the last full unit.
      if (pageTokens >= UNIT_TOKENS) assertThat(expected).isEqualTo(cached);
      else assertThat(cached - expected).isBetween(0, UNIT_TOKENS - 1);
    }

    private void publish(List<byte[]> events) {
      try (var packer = MessagePack.newDefaultBufferPacker()) {
        packer.packArrayHeader(2).packDouble(1.5).packArrayHeader(events.size());
        for (var event : events) packer.writePayload(event);
        var outcome = (EventDecoder.Outcome.Decoded) decoder.decode(packer.toByteArray());
        outcome.batch().events().forEach(blocks::on);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static byte[] stored(long name, @Nullable Long parent, List<Integer> tokens) {
      return event(
          packer -> {
            packer.packArrayHeader(7).packString("BlockStored");
            packer.packArrayHeader(1).packLong(name);
            if (parent == null) packer.packNil();
            else packer.packLong(parent);
            packer.packArrayHeader(tokens.size());
            for (int token : tokens) packer.packInt(token);
            packer.packInt(tokens.size()).packNil().packString("GPU");
          });
    }

    private static byte[] removed(long name) {
      return event(
          packer -> {
            packer.packArrayHeader(3).packString("BlockRemoved");
            packer.packArrayHeader(1).packLong(name).packString("GPU");
          });
    }

    @FunctionalInterface
    private interface Writer {
      void write(MessageBufferPacker packer) throws IOException;
    }

    private static byte[] event(Writer writer) {
      try (var packer = MessagePack.newDefaultBufferPacker()) {
        writer.write(packer);
        return Arrays.copyOf(packer.toByteArray(), packer.toByteArray().length);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
