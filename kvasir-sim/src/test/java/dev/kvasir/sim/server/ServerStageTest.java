package dev.kvasir.sim.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.sim.latency.StepShape;
import dev.kvasir.sim.server.ServerTimes.Engine;
import dev.kvasir.sim.server.ServerTimes.Front;
import dev.kvasir.sim.server.ServerTimes.WarmUp;
import dev.kvasir.time.VirtualLoop;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ServerStageTest {
  private static final WarmUp WARM = new WarmUp(0, 0, 1);

  /** Launching prompts takes 20 ms, decoding 2; reading weights 5, a token 0.01. */
  private static final Engine ENGINE = new Engine(20_000, 0, 0, 2_000, 0, 5_000, 10, 0, 0, 0, 0);

  /** Two calls of 3 ms, one after receiving it, which takes 1 ms, and 4 ms between them. */
  private static final Front FRONT = new Front(2, 1_000, 0, 3_000, 0, 0, 4_000, 500, 100, 0);

  private final VirtualLoop loop = new VirtualLoop();
  private final List<String> log = new ArrayList<>();
  private final ServerModel model = new ServerModel(new ServerTimes(ENGINE, FRONT, WARM));
  private final FrontStage front = new FrontStage(loop, model);
  private final StepPipeline pipeline = new StepPipeline(loop, model, front);

  private void note(String what) {
    log.add(what + " " + loop.nanos() / 1_000);
  }

  private static StepShape prompt(int tokens) {
    return new StepShape(List.of(new StepShape.Prefill(tokens, 0, tokens)), 0, 0);
  }

  private static StepShape decode(int rows) {
    return new StepShape(List.of(), rows, 0);
  }

  @Test
  void callsStandInOneLine() {
    for (int i = 0; i < 3; i++) {
      int which = i;
      front.enter(100, () -> note("in" + which));
    }
    loop.run(100);
    // First halves end at 2.5, 4 and 5.5 ms, second ones at 7, 8.5 and 10; calls again 4 ms later.
    assertThat(log).containsExactly("in0 16000", "in1 19000", "in2 20500");
  }

  @Test
  void promptsThatWaitAreTokenizedSideBySide() {
    var only = new Front(1, 0, 0, 0, 0, 10, 0, 0, 0, 0);
    var stage = new FrontStage(loop, new ServerModel(new ServerTimes(ENGINE, only, WARM)));
    for (int tokens : new int[] {100, 300, 50}) stage.enter(tokens, () -> note("in" + tokens));
    loop.run(100);
    // The first is taken alone; those behind it take as long as the longer one.
    assertThat(log).containsExactlyInAnyOrder("in100 1000", "in300 4000", "in50 4000");
  }

  @Test
  void launchesDifferByChanceAndNotOnAverage() {
    var engine = new Engine(20_000, 0, 0.3, 2_000, 0, 5_000, 10, 0, 0, 0, 0);
    var other = new ServerModel(new ServerTimes(engine, FRONT, WARM));
    long least = Long.MAX_VALUE;
    long most = 0;
    double sum = 0;
    for (int served = 1_000; served < 1_100; served++) {
      long nanos = other.launchNanos(prompt(10), served);
      least = Math.min(least, nanos);
      most = Math.max(most, nanos);
      sum += nanos;
      assertThat(model.launchNanos(prompt(10), served)).isEqualTo(20_000_000);
      assertThat(other.launchNanos(decode(1), served)).isEqualTo(2_000_000);
    }
    assertThat(sum / 100).isBetween(19.4e6, 20.6e6);
    assertThat(least).isBetween(5_000_000L, 12_000_000L);
    assertThat(most).isBetween(30_000_000L, 50_000_000L);
    assertThat(other.launchNanos(prompt(10), 5)).isEqualTo(other.launchNanos(prompt(10), 5));
  }

  @Test
  void tokensOnTheirWayOutWaitForPromptsOnTheirWayIn() {
    front.enter(100, () -> {});
    loop.runUntil(1_500_000);
    front.send(10, List.of(() -> note("out")));
    loop.run(100);
    assertThat(log).containsExactly("out 3500");
  }

  @Test
  void tokensOfARequestThatWaitAreSentTogether() {
    front.send(10, List.of(() -> note("first")));
    front.send(10, List.of(() -> note("second")));
    front.send(30, List.of(() -> note("third")));
    loop.run(100);
    // A token takes 0.1 ms: ten with those behind them, and twenty more.
    assertThat(log).containsExactly("first 1000", "second 1000", "third 3000");
  }

  @Test
  void tokensThatAreThroughAreNotSentAgain() {
    front.send(10, List.of(() -> note("first")));
    loop.runUntil(400_000);
    // Four are through, so that four of the ten take time.
    front.send(10, List.of(() -> note("second")));
    loop.run(100);
    assertThat(log).containsExactly("first 1000", "second 1400");
  }

  @Test
  void theTokenOfAStepIsSeenWhenTheNextOneIsLaunched() {
    pipeline.run(
        prompt(100),
        () -> {
          note("launched");
          pipeline.whenSent(() -> note("first token"));
          pipeline.run(prompt(100), () -> note("launched"));
        });
    loop.run(100);
    assertThat(log).containsExactly("launched 20000", "launched 40000", "first token 40100");
  }

  @Test
  void withNothingToFollowAStepIsSeenWhenItIsOver() {
    pipeline.run(
        decode(1),
        () -> {
          note("launched");
          pipeline.whenSent(() -> note("token"));
        });
    loop.run(100);
    assertThat(log).containsExactly("launched 2000", "token 5100");
  }

  @Test
  void stepsOfDecodingFollowEachOtherAsFastAsTheGpuGoes() {
    var ends = new ArrayList<Long>();
    decodeOn(8, ends);
    loop.run(100);
    for (int i = 3; i < ends.size(); i++) {
      assertThat(ends.get(i) - ends.get(i - 1)).isEqualTo(5_000_000);
    }
    assertThat(ends).hasSize(8);
  }

  private void decodeOn(int left, List<Long> ends) {
    if (left == 0) return;
    pipeline.run(
        decode(4),
        () -> {
          ends.add(loop.nanos());
          decodeOn(left - 1, ends);
        });
  }

  @Test
  void longPromptsTakeAsLongAsTheirArithmetic() {
    pipeline.run(prompt(8_000), () -> pipeline.whenSent(() -> note("token")));
    loop.run(100);
    assertThat(log).containsExactly("token 80100");
  }

  @Test
  void theFirstRequestsTakeLonger() {
    var cold = new ServerModel(new ServerTimes(ENGINE, FRONT, new WarmUp(1, 1, 10)));
    assertThat(cold.launchNanos(prompt(1), 0)).isEqualTo(40_000_000);
    assertThat(cold.launchNanos(prompt(1), 10)).isBetween(27_000_000L, 28_000_000L);
    assertThat(cold.launchNanos(prompt(1), 1_000)).isEqualTo(20_000_000);
    assertThat(cold.launchNanos(decode(1), 0)).isEqualTo(2_000_000);
  }

  @Test
  void timesMustBeTimes() {
    assertThatThrownBy(() -> new Front(0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        .hasMessageContaining("0 calls");
    assertThatThrownBy(() -> new Front(1, -1, 0, 0, 0, 0, 0, 0, 0, 0)).hasMessageContaining("-1.0");
    assertThatThrownBy(() -> new WarmUp(0, Double.NaN, 1)).hasMessageContaining("NaN");
    assertThatThrownBy(() -> new WarmUp(0, 0, 0)).hasMessageContaining("0.0 requests");
  }
}
