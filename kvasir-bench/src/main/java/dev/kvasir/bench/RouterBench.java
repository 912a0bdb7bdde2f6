package dev.kvasir.bench;

import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.router.Router;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.index.IndexSettings;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the cost of a decision, with its booking and all that follows until the route is closed:
 * 64 instances that hand over to each other, an index of 1,000,000 blocks, and sessions with homes.
 * The names of the prompt are made anew each time, as a hasher would.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 10, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class RouterBench {
  private static final int INSTANCES = 64;
  private static final int ENTRIES = 1_000_000;
  private static final int CHAIN_BLOCKS = 500;
  private static final int CHAINS = ENTRIES / CHAIN_BLOCKS;
  private static final int BLOCK_TOKENS = 16;
  private static final int SESSIONS = 1 << 10;

  /** A fleet with warm caches: each known prompt is on one to four instances. */
  @State(Scope.Benchmark)
  @SuppressWarnings("NullAway.Init")
  public static class Fleet {
    @Param({"balanced", "weighted"})
    String pick;

    /** Kind of prompts: seen before, or new. */
    @Param({"known", "new"})
    String prompts;

    @Param({"16", "128", "500"})
    int blocks;

    final VirtualLoop loop = new VirtualLoop();
    final SplittableRandom random = new SplittableRandom(42);
    Router router;

    @Setup(Level.Trial)
    public void make() {
      var index = new IndexSettings(1 << 20, 1 << 14, Duration.ofSeconds(5), 8);
      router =
          new Router(
              loop,
              RouterSettings.DEFAULT.withIndex(index),
              PickPolicy.named(pick, WeightedPick.SCORERS_DEFAULT, Ties.random(random)),
              PlacementPolicy.named("predictive", PlacementSettings.DEFAULT));
      for (int i = 0; i < INSTANCES; i++) router.add(Instance.of("worker-" + i));
      for (int chain = 0; chain < CHAINS; chain++) store(chain);
      if (router.index().size() != ENTRIES) throw new IllegalStateException("index not full");
    }

    private void store(int chain) {
      int holders = 1 + random.nextInt(4);
      for (int holder = 0; holder < holders; holder++) {
        int instance = random.nextInt(INSTANCES);
        for (var hash : prefix(chain, CHAIN_BLOCKS)) {
          var block = TokenBlock.named(hash, null, 0);
          router.on(instance, List.of(new KvEvent.Stored(Tier.DEVICE, block)));
        }
      }
    }

    private static List<BlockHash> prefix(long chain, int length) {
      var names = new SplittableRandom(chain);
      var hashes = new BlockHash[length];
      for (int i = 0; i < length; i++) {
        hashes[i] =
            new BlockHash(names.nextLong(), names.nextLong(), names.nextLong(), names.nextLong());
      }
      return List.of(hashes);
    }

    RouteRequest next() {
      long chain = prompts.equals("known") ? random.nextInt(CHAINS) : random.nextLong();
      var session = "session-" + random.nextInt(SESSIONS);
      return RouteRequest.of(session, blocks * BLOCK_TOKENS + 1, prefix(chain, blocks));
    }
  }

  /** Measures the cost of making the request, to be subtracted from the other. */
  @Benchmark
  public RouteRequest request(Fleet fleet) {
    return fleet.next();
  }

  @Benchmark
  public long openToClose(Fleet fleet) {
    try (var route = fleet.router.open(fleet.next()).orElseThrow()) {
      route.firstToken();
      return route.number();
    }
  }
}
