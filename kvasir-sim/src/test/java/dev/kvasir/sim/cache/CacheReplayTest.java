package dev.kvasir.sim.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.Seeds;
import dev.kvasir.kv.evict.policy.ReturnHint.Expectation;
import dev.kvasir.sim.Shared;
import dev.kvasir.sim.trace.Trace;
import dev.kvasir.sim.trace.TraceInput;
import dev.kvasir.sim.trace.TraceOptions;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.TraceCaller;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of what caches find in recorded traces, skipped if they are absent, and in made ones. */
@Tag("all")
class CacheReplayTest {
  private static final String CONVERSATIONS = "traces/mooncake/conversation_trace.jsonl";
  private static final String SLICE = "traces/dynamo/mooncake_trace_1000.jsonl";
  private static final int BLOCK_TOKENS = 512;
  private static final long SEED = 42;
  private static final int MADE_TRACES = Seeds.scale() == 1 ? 1 : 2;
  private static final int MADE_REQUESTS = 12_000;
  private static final double MADE_LOSS_MAX = -0.1;
  private static final Map<String, List<Request>> READ = new TreeMap<>();

  @ParameterizedTest
  @CsvSource({"1000, 8.0", "5000, 17.6", "10000, 23.6", "20000, 30.4", "50000, 35.6"})
  void learnedFindsMoreOfConversations(int blocks, double percent) {
    // One size in the usual build: each replays all conversations.
    if (blocks != 5_000) assumeLong();
    assertThat(found("learned", blocks, read(CONVERSATIONS))).isGreaterThan(percent);
  }

  @ParameterizedTest
  @CsvSource({"250, 28.1", "500, 28.8", "1000, 29.3", "2000, 30.6", "5000, 35.2"})
  void learnedFindsMoreOfAThousandRequests(int blocks, double percent) {
    assertThat(found("learned", blocks, read(SLICE))).isGreaterThan(percent);
  }

  /** In the long profile two of each kind: chance alone moves each, and its cost is limited. */
  @ParameterizedTest
  @EnumSource
  void learnedLosesNextToNothingToLruOnAnyTraffic(MadeTrace.Kind kind) {
    for (int seed = 1; seed <= MADE_TRACES; seed++) {
      var requests = kind.make(MADE_REQUESTS, seed);
      assertGained(1_000, requests);
      if (Integer.getInteger("kvasir.scale", 1) == 1) continue;
      for (int blocks : new int[] {300, 3_000, 10_000}) assertGained(blocks, requests);
    }
  }

  private static void assertGained(int blocks, List<Request> requests) {
    double gained = found("learned", blocks, requests) - found("lru", blocks, requests);
    assertThat(gained).as("%d blocks", blocks).isGreaterThan(MADE_LOSS_MAX);
  }

  @Test
  void optimalIsTheBound() {
    assumeLong();
    var replay = new ClairvoyantReplay(read(CONVERSATIONS), BLOCK_TOKENS);
    assertThat(replay.run(1_000).hitRate()).isEqualTo(0.1907, within(0.00005));
    assertThat(replay.run(5_000).hitRate()).isEqualTo(0.3412, within(0.00005));
    assertThat(replay.run(50_000).hitRate()).isEqualTo(0.3664, within(0.00005));
  }

  @ParameterizedTest
  @CsvSource({"0.25, 20.3", "1, 30.6"})
  void trueHintsAreWorthMuch(double share, double percent) {
    if (share < 1) assumeLong();
    var requests = HintOracle.addHints(read(CONVERSATIONS), BLOCK_TOKENS, share, SEED);
    assertThat(found("learned", 5_000, requests)).isGreaterThan(percent);
  }

  /** Two tenants, of which the first sends true hints. */
  @Test
  void tenantThatLiesGainsAndCostsNothing() {
    assumeLong();
    var requests = new ArrayList<Request>();
    for (var request : HintOracle.addHints(read(CONVERSATIONS), BLOCK_TOKENS, 1, SEED)) {
      long second = request.content().names(BLOCK_TOKENS, 0).next().first();
      var names = request.content().names(BLOCK_TOKENS, 0);
      names.next();
      if (request.promptTokens() > BLOCK_TOKENS) second = names.next().first();
      requests.add(of(request, (second >>> 7 & 1) == 0 ? "honest" : "liar"));
    }
    var silent = perTenant(requests, Expectation.NOTHING, Expectation.NOTHING);
    var lying =
        perTenant(requests, /* forReturns= */ Expectation.LAST, /* forLast= */ Expectation.RETURNS);
    assertThat(lying[0]).isGreaterThan(silent[0] - 0.1);
    assertThat(lying[1]).isBetween(silent[1] - 0.3, silent[1] + 0.3);
  }

  private static void assumeLong() {
    assumeTrue(Integer.getInteger("kvasir.scale", 1) > 1, "only in the long profile");
  }

  /**
   * Returns what each tenant finds where the second says these in place of "returns" and "last".
   */
  private static double[] perTenant(
      List<Request> requests, Expectation forReturns, Expectation forLast) {
    var replay = new CacheReplay(5_000, BLOCK_TOKENS, "learned");
    var references = new long[2];
    var hits = new long[2];
    for (var request : requests) {
      int tenant = request.caller().tenant().equals("honest") ? 0 : 1;
      var expectation = request.turn().expectation();
      if (tenant == 1) expectation = expectation == Expectation.RETURNS ? forReturns : forLast;
      references[tenant] += CacheReplay.blocksOf(request, BLOCK_TOKENS);
      hits[tenant] += replay.serve(request.in(request.turn().withExpectation(expectation)));
    }
    return new double[] {100.0 * hits[0] / references[0], 100.0 * hits[1] / references[1]};
  }

  private static Request of(Request request, String tenant) {
    return new Request(
        request.id(),
        request.arrivalNanos(),
        request.promptTokens(),
        request.outputTokens(),
        request.content(),
        new TraceCaller(tenant, ""),
        request.turn(),
        0);
  }

  private static double found(String eviction, int blocks, List<Request> requests) {
    var replay = new CacheReplay(blocks, BLOCK_TOKENS, eviction);
    return 100 * replay.run(requests.iterator()).hitRate();
  }

  private static List<Request> read(String name) {
    return READ.computeIfAbsent(name, CacheReplayTest::open);
  }

  private static List<Request> open(String name) {
    var trace =
        Trace.read(new TraceInput(name, Shared.open(name)), TraceOptions.USUAL.withWholeTails());
    var requests = new ArrayList<Request>();
    trace.forEachRemaining(requests::add);
    return requests;
  }
}
