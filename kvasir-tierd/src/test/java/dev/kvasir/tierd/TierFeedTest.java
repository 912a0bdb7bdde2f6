package dev.kvasir.tierd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.events.EngineBlocks;
import dev.kvasir.events.EngineEvent;
import dev.kvasir.events.EngineHash;
import dev.kvasir.events.SubscriberSettings;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Sha256;
import dev.kvasir.kv.name.Sha256Hasher;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.router.index.IndexSettings;
import dev.kvasir.router.index.KvFeed;
import dev.kvasir.router.index.PrefixIndex;
import dev.kvasir.router.index.UnitSources;
import dev.kvasir.tierd.feed.FeedSettings;
import dev.kvasir.tierd.feed.TierFeedReader;
import dev.kvasir.tierd.settings.TierSettings;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A router hears from the daemon what it holds, in the units of its own index. */
@Timeout(180)
class TierFeedTest {
  private static final int UNIT = 16;
  private static final int WORKER = 7;
  private static final int STRIDE = 4 * 4_096;
  private static final int ROWS = 32;

  /** Chunks whose number can be divided by three are of the first group of layers. */
  private static final long CHUNK = 3;

  private static final Sha256Hasher HASHER = new Sha256Hasher("m", "");

  @TempDir Path temp;

  private final LiveLoop loop = new LiveLoop("router");
  private final PrefixIndex index = new PrefixIndex(IndexSettings.DEFAULT);
  private FeedSettings feed = FeedSettings.DEFAULT;

  @BeforeEach
  void ports() throws IOException {
    feed = new FeedSettings("tcp://127.0.0.1:" + free(), "tcp://127.0.0.1:" + free());
    index.add(WORKER);
  }

  @AfterEach
  void close() {
    loop.close();
  }

  private static int free() throws IOException {
    try (var socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private TierSettings settings(int hostChunks) {
    return new TierSettings(
        temp.resolve("sock"),
        List.of(),
        List.of(temp),
        0,
        8,
        1,
        (long) hostChunks * STRIDE,
        32L * STRIDE,
        temp.resolve("tier"),
        "lru",
        Duration.ZERO,
        TierSettings.Load.ALWAYS,
        0,
        TierSettings.DEFAULT.order(),
        TierSettings.DEFAULT.disk(),
        null,
        null,
        null,
        feed);
  }

  /** A gateway's half: a worker with KV events, above the daemon. */
  private final class Router implements AutoCloseable {
    private final EngineBlocks blocks;
    private final TierFeedReader reader;

    Router() throws IOException {
      var sources = new UnitSources(KvFeed.into(index, WORKER));
      blocks = new EngineBlocks((_, _) -> HASHER, UNIT, 1_000, sources.own());
      reader = TierFeedReader.open(loop, SubscriberSettings.of(feed.endpoint(), feed.replay()));
      blocks.whenLearned(reader::learn);
      on(
          () -> {
            reader.add(sources.below());
            return true;
          });
    }

    /** The worker computes two blocks, of which the second gives a chunk of both its name. */
    void computes(long chunk) {
      var hash = BlockHash.of(Sha256.of(("chunk " + chunk).getBytes(UTF_8)));
      var first = new EngineHash.Word(~chunk);
      var second = new EngineHash.Word(hash.fourth());
      on(
          () -> {
            blocks.on(
                new EngineEvent.Stored(
                    List.of(first, second),
                    null,
                    tokens(chunk),
                    UNIT,
                    EngineEvent.Adapter.NONE,
                    new EngineEvent.Place("GPU", null),
                    List.of(),
                    EngineEvent.Group.ONLY));
            return true;
          });
    }

    @Override
    public void close() {
      reader.close();
    }
  }

  private static int[] tokens(long chunk) {
    var tokens = new int[2 * UNIT];
    Arrays.setAll(tokens, i -> (int) (1_000 * chunk + i));
    return tokens;
  }

  private static List<BlockHash> units(long chunk) {
    var tokens = tokens(chunk);
    var first = HASHER.hash(null, tokens, 0, UNIT, List.of());
    return List.of(first, HASHER.hash(first, tokens, UNIT, 2 * UNIT, List.of()));
  }

  private <T> T on(Supplier<T> supplier) {
    var answer = new CompletableFuture<T>();
    loop.execute(() -> answer.complete(supplier.get()));
    return answer.join();
  }

  private boolean holds(Tier tier, long chunk) {
    return on(() -> units(chunk).stream().allMatch(unit -> index.holds(WORKER, tier, unit)));
  }

  private boolean lacks(Tier tier, long chunk) {
    return on(() -> units(chunk).stream().noneMatch(unit -> index.holds(WORKER, tier, unit)));
  }

  private static void await(Supplier<Boolean> wanted, String what) throws InterruptedException {
    for (int i = 0; i < 1_000; i++) {
      if (wanted.get()) return;
      Thread.sleep(10);
    }
    throw new AssertionError(what);
  }

  private TierClient connect() throws IOException {
    return TierClient.connect(
        temp.resolve("sock"), temp.resolve("rows"), ROWS, TierClient.namespace("aa"));
  }

  @Test
  void whatTheDaemonHoldsIsKnownAlsoAfterRestartsOfAll() throws Exception {
    try (var router = new Router()) {
      try (var _ = TierDaemon.open(settings(16));
          var engine = connect()) {
        router.computes(CHUNK);
        assertThat(lacks(Tier.HOST, CHUNK)).isTrue();
        engine.store(CHUNK);
        await(() -> holds(Tier.HOST, CHUNK), "in host memory");
        await(() -> holds(Tier.DISK, CHUNK), "on disk");
        on(
            () -> {
              router.blocks.forget();
              return true;
            });
        assertThat(holds(Tier.HOST, CHUNK)).as("the worker was restarted").isTrue();
        assertThat(lacks(Tier.DEVICE, CHUNK)).isTrue();
      }
      try (var _ = TierDaemon.open(settings(16));
          var _ = connect()) {
        await(() -> lacks(Tier.HOST, CHUNK), "nothing in memory after a restart of the daemon");
        await(() -> holds(Tier.DISK, CHUNK), "on disk after a restart of the daemon");
      }
    }
  }

  @Test
  void aRouterThatComesLateHearsOfAllThatIsHeld() throws Exception {
    try (var _ = TierDaemon.open(settings(16));
        var engine = connect()) {
      engine.store(3, 6, 9);
      try (var router = new Router()) {
        await(() -> on(router.reader::chunks) == 3, "three chunks, whose tokens nobody told");
        assertThat(lacks(Tier.HOST, 6)).isTrue();
        assertThat(on(router.reader::unknown)).isEqualTo(3);
        router.computes(6);
        assertThat(holds(Tier.HOST, 6)).as("known as soon as the tokens are").isTrue();
        assertThat(lacks(Tier.HOST, 3)).isTrue();
      }
    }
  }

  @Test
  void whatTheDaemonEvictsIsNoLongerBelieved() throws Exception {
    try (var _ = TierDaemon.open(settings(4));
        var engine = connect();
        var router = new Router()) {
      router.computes(CHUNK);
      engine.store(CHUNK);
      await(() -> holds(Tier.DISK, CHUNK), "on disk");
      for (long other = 30; other < 60; other += 3) engine.store(other);
      await(() -> lacks(Tier.HOST, CHUNK), "evicted from host memory");
      assertThat(holds(Tier.DISK, CHUNK)).isTrue();
    }
  }
}
