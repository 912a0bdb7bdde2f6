package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.router.Router;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.index.IndexSettings;
import dev.kvasir.router.index.RecentBlocks;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.view.Estimates;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.Views;
import dev.kvasir.time.VirtualLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A recorded day of conversations over eight instances, each with a cache of its own: how much of
 * the prompts the router finds cached, and how evenly it spreads the rest.
 *
 * <p>Requests come in their order and at their times but take none, and the caches are lists of
 * recent blocks, so that only the choice of the instance counts. What the product reaches is
 * another matter: TraceHitRateTest.
 */
class TraceRoutingTest {
  private static final int INSTANCES = 8;
  private static final int CACHE_BLOCKS = 5_859;
  private static final int BLOCK_TOKENS = 512;
  private static final Pattern NUMBERS = Pattern.compile("-?\\d+");

  private record Arrival(long millis, int promptTokens, List<BlockHash> prefix) {}

  private record Outcome(double hitShare, double imbalance) {}

  private static final List<Arrival> TRACE = new ArrayList<>();

  @BeforeAll
  static void readTrace() throws IOException {
    try (var lines = Files.lines(Shared.path("traces/mooncake/conversation_trace.jsonl"))) {
      lines.map(TraceRoutingTest::arrival).forEach(TRACE::add);
    }
  }

  /** The numbers of a line are its time, its two lengths, and its blocks. */
  private static Arrival arrival(String line) {
    var numbers = NUMBERS.matcher(line).results().map(MatchResult::group).toList();
    var prefix = new ArrayList<BlockHash>();
    for (var name : numbers.subList(3, numbers.size())) {
      prefix.add(Views.hash(Long.parseLong(name)));
    }
    int promptTokens = Integer.parseInt(numbers.get(1));
    int full = Math.min(prefix.size(), promptTokens / BLOCK_TOKENS);
    return new Arrival(Long.parseLong(numbers.get(0)), promptTokens, prefix.subList(0, full));
  }

  @Test
  void roundRobinFindsLittle() {
    var outcome = route("round-robin");
    assertThat(outcome.hitShare).isBetween(0.10, 0.13);
  }

  @Test
  void longestPrefixSendsEverythingToOne() {
    var outcome = route("longest-prefix");
    assertThat(outcome.imbalance).isGreaterThan(7.9);
    assertThat(outcome.hitShare).isLessThan(0.15);
  }

  /** More than where requests take time, as they do in TraceHitRateTest. */
  @Test
  void balancedFindsOverAThirdOfRequestsThatTakeNoTimeAndSpreadsTheRest() {
    var outcome = route("balanced");
    assertThat(outcome.hitShare).isGreaterThan(0.34);
    assertThat(outcome.imbalance).isLessThan(1.1);
  }

  private static Outcome route(String pick) {
    var loop = new VirtualLoop();
    var index = new IndexSettings(100_000, 1, Duration.ZERO, 8);
    var settings =
        RouterSettings.DEFAULT
            .withBlockTokens(BLOCK_TOKENS)
            .withIndex(index)
            .withStart(Estimates.DEFAULT.withParity(Double.POSITIVE_INFINITY));
    var router =
        new Router(
            loop,
            settings,
            PickPolicy.named(pick, WeightedPick.SCORERS_DEFAULT, Ties.first()),
            PlacementPolicy.named("never", PlacementSettings.DEFAULT));
    var caches = new ArrayList<RecentBlocks>();
    for (int i = 0; i < INSTANCES; i++) {
      router.add(new Instance("worker-" + i, Role.BOTH, "", CACHE_BLOCKS));
      caches.add(new RecentBlocks(CACHE_BLOCKS));
    }
    long prompts = 0;
    var computed = new long[INSTANCES];
    for (var arrival : TRACE) {
      loop.runUntil(arrival.millis * 1_000_000);
      var request = RouteRequest.of("", arrival.promptTokens, arrival.prefix);
      var route = router.open(request).orElseThrow();
      int instance = route.placement().decode();
      route.firstToken();
      route.close();
      var cache = caches.get(instance);
      int hit = cache.match(arrival.prefix) * BLOCK_TOKENS;
      for (var hash : arrival.prefix.reversed()) cache.touch(hash);
      prompts += arrival.promptTokens;
      computed[instance] += arrival.promptTokens - Math.min(hit, arrival.promptTokens);
    }
    long sum = Arrays.stream(computed).sum();
    long most = Arrays.stream(computed).max().orElseThrow();
    return new Outcome(1 - (double) sum / prompts, (double) most * INSTANCES / sum);
  }
}
