package dev.kvasir.sim.calibrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.sim.clock.ParallelTasks;
import dev.kvasir.sim.page.CalibrationPage;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.trace.Capture;
import dev.kvasir.sim.trace.Captured;
import dev.kvasir.spec.Written;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Profiles of servers whose times are known, and captures that none can be made of. */
class CalibrationTest {
  /** Launches are slower by half, GPU work by a fifth. */
  private static final double[] SLOWER = Made.values(0.5, 0, 0, 0, 0.2, 0.2);

  private static final Capture CALM = Made.capture(Made.requests(60, 4, 1), SLOWER);

  @Test
  void aServerIsFoundAgainFromItsRequestsAlone() {
    var busy = Made.capture(Made.requests(80, 12, 2), SLOWER);
    var result = Made.calibration(ParallelTasks.ALONE).of(List.of(Made.input("calm", CALM)));
    var profile = result.profile();
    double launch = profile.values().get(Parameter.LAUNCH.index());
    double prior = Parameter.priors(Made.shape())[Parameter.LAUNCH.index()];
    assertThat(launch).isBetween(1.35 * prior, 1.65 * prior);
    // A load that was not captured is foretold, too.
    var served = new Served("busy", busy.requests(), Limits.USUAL, 1);
    var foretold = Replay.run(served, profile.times());
    var runs = new ArrayList<RunResult>(List.of(foretold));
    for (var other : profile.others()) {
      var values = other.stream().mapToDouble(Double::doubleValue).toArray();
      runs.add(Replay.run(served, Parameter.times(values, 2)));
    }
    for (var figure : Interval.Figure.values()) {
      double measured = figure.of(Replay.run(served, Parameter.times(SLOWER, 2)));
      double predicted = figure.of(foretold);
      assertThat(predicted / measured).as(figure.name()).isBetween(0.93, 1.07);
      var interval = Interval.of(List.of(profile), figure, runs, 3);
      assertThat(interval.contains(measured)).as(figure + " in " + interval).isTrue();
      assertThat(interval.high() / interval.low()).as(figure.name()).isBetween(1.05, 2.5);
      assertThat(Interval.of(List.of(profile), figure, runs, 3)).isEqualTo(interval);
    }
    assertThat(CalibrationTable.of(result)).contains("launch_us", "TTFT p50", "H200");
    assertThat(CalibrationPage.of(result)).contains("Whole answer, calm", "</html>");
  }

  @Test
  void memoryThatNobodyFillsChangesNothing() {
    var busy = Made.capture(Made.requests(80, 12, 2), SLOWER);
    var times = Parameter.times(SLOWER, 2);
    var vast = new Served("busy", busy.requests(), Limits.USUAL, 1);
    assertThat(Replay.run(vast, times).requests())
        .isEqualTo(Replay.run(vast, times, Limits.USUAL.blocks()).requests());
    // What is said to be small stays so, and is felt.
    var tokens = busy.requests().stream().mapToInt(each -> each.request().tokens());
    int few = Math.ceilDiv(tokens.max().orElseThrow(), Limits.USUAL.blockTokens()) + 1;
    var small = new Served("busy", busy.requests(), Limits.USUAL.withBlocks(few), 1);
    assertThat(Replay.run(small, times).endMicros())
        .isEqualTo(Replay.run(small, times, few).endMicros())
        .isGreaterThan(Replay.run(vast, times).endMicros());
  }

  @Test
  void whoComputesTheSlopesAndInWhichOrderChangesNothing() {
    var few =
        new Capture(
            Made.NOTHING,
            List.of(),
            CALM.requests().subList(0, 24),
            1,
            List.of(),
            Capture.CALLS_USUAL);
    var inputs = List.of(Made.input("few", few));
    ParallelTasks backwards = tasks -> tasks.reversed().forEach(Runnable::run);
    var one = ProfileJson.write(Made.calibration(ParallelTasks.ALONE).of(inputs).profile());
    assertThat(ProfileJson.write(Made.calibration(backwards).of(inputs).profile())).isEqualTo(one);
    var read = ProfileJson.read(new StringReader(one), "profile.json");
    assertThat(ProfileJson.write(read)).isEqualTo(one);
    assertThat(read.otherModels()).hasSize(8);
    assertThat(read.captures().getFirst().requests()).isEqualTo(24);
  }

  @Test
  void capturesAreJudgedByProfilesOfOthers() {
    var few =
        new Capture(
            Made.NOTHING,
            List.of(),
            CALM.requests().subList(0, 24),
            1,
            List.of(),
            Capture.CALLS_USUAL);
    var inputs =
        List.of(
            Made.input("one.capture.jsonl.gz", few),
            Made.input("two.jsonl", Made.capture(Made.requests(24, 12, 2), SLOWER)));
    var check = new CrossCheck(Made.setup(), ParallelTasks.ALONE);
    var judged = check.leavingOut(inputs, 1);
    assertThat(judged)
        .extracting(CrossCheck.Judged::capture)
        .containsExactlyElementsOf(names(inputs));
    assertThat(judged.getFirst().from()).containsExactly("two.jsonl");
    var byPrior = check.priorAlone(inputs).getFirst();
    for (var figure : Interval.Figure.values()) {
      for (var each : judged) {
        assertThat(Math.abs(each.cell(figure).error())).as(figure.name()).isLessThan(0.25);
      }
      // Launches that are slower by half are told from those of the prior.
      var prior = byPrior.cell(figure);
      assertThat(prior.predicted()).isLessThan(prior.measured());
    }
    assertThat(CrossTable.off(judged, Interval.Figure.TTFT_P50, 1))
        .isGreaterThanOrEqualTo(CrossTable.off(judged, Interval.Figure.TTFT_P50, 0.5));
    assertThat(CrossTable.of(judged)).contains("two  ", "one  ", "TTFT p50", "median", "worst");
    assertThatThrownBy(() -> check.leavingOut(inputs, 2))
        .hasMessageContaining("cannot leave 2 of 2 captures out");
  }

  private static List<String> names(List<Calibration.Input> inputs) {
    return inputs.stream().map(Calibration.Input::name).toList();
  }

  @Test
  void profilesThatAreNoneAreRefused() {
    assertThatThrownBy(() -> ProfileJson.read(new StringReader("[]"), "p.json"))
        .isInstanceOf(CalibrationError.class)
        .hasMessageContaining("p.json: no JSON object");
    assertThatThrownBy(() -> ProfileJson.read(new StringReader("{"), "p.json"))
        .hasMessageContaining("not JSON");
    assertThatThrownBy(() -> ProfileJson.read(new StringReader("{\"schema\":\"x\"}"), "p.json"))
        .hasMessageContaining("schema is 'x'");
    assertThatThrownBy(
            () -> ProfileJson.read(new StringReader("{\"schema\":\"kvasir.profile.v1\"}"), "p"))
        .hasMessageContaining("times has no launch_us");
  }

  @Test
  void tooFewRequestsAreRefused() {
    var few =
        new Capture(
            Made.NOTHING,
            List.of(),
            CALM.requests().subList(0, 19),
            1,
            List.of(),
            Capture.CALLS_USUAL);
    refuses("19 answered requests are too few", few);
  }

  @Test
  void severalRunsInOneFileAreRefused() {
    refuses(
        "holds 2 runs",
        new Capture(Made.NOTHING, List.of(), CALM.requests(), 2, List.of(), Capture.CALLS_USUAL));
  }

  @Test
  void timesThatRunBackAreRefused() {
    var requests = new ArrayList<>(CALM.requests());
    var one = requests.get(30);
    requests.set(30, new Captured(one.request(), "gpu0", 9_000_000, 5_000_000, 0));
    refuses(
        "the times of r30 run back",
        new Capture(Made.NOTHING, List.of(), requests, 1, List.of(), Capture.CALLS_USUAL));
  }

  @Test
  void anOverloadWithoutAnEndIsRefused() {
    var late = new ArrayList<Captured>();
    for (var each : CALM.requests()) {
      long wait = 200_000_000L * (late.size() + 1);
      late.add(
          new Captured(each.request(), "gpu0", each.ttftNanos() + wait, each.e2eNanos() + wait, 0));
    }
    refuses(
        "overloaded to the end",
        new Capture(Made.NOTHING, List.of(), late, 1, List.of(), Capture.CALLS_USUAL));
  }

  @Test
  void capturesOfUnlikeDeploymentsAreRefused() {
    var first =
        new Capture(
            deployment("H100"), List.of(), CALM.requests(), 1, List.of(), Capture.CALLS_USUAL);
    var second =
        new Capture(
            deployment("L40S"), List.of(), CALM.requests(), 1, List.of(), Capture.CALLS_USUAL);
    assertThatThrownBy(
            () ->
                Made.calibration(ParallelTasks.ALONE)
                    .of(List.of(Made.input("a", first), Made.input("b", second))))
        .isInstanceOf(CalibrationError.class)
        .hasMessageContaining("b has hardware.gpu L40S, and a has H100");
  }

  private static Written.Keys deployment(String gpu) {
    var origin = Written.Origin.of("the capture");
    return Written.Keys.none(origin).with("hardware.gpu", new Written.Text(gpu, origin));
  }

  private static void refuses(String why, Capture capture) {
    assertThatThrownBy(
            () -> Made.calibration(ParallelTasks.ALONE).of(List.of(Made.input("capture", capture))))
        .isInstanceOf(CalibrationError.class)
        .hasMessageContaining(why);
  }

  @Test
  void requestsWithoutTimesAreLeftOutAndFewCountLess() {
    var requests = new ArrayList<>(CALM.requests().subList(0, 25));
    requests.set(3, new Captured(requests.get(3).request(), "gpu0", 0, 0, 0));
    var check = new CaptureCheck(null);
    var inputs =
        List.of(
            Made.input(
                "c",
                new Capture(Made.NOTHING, List.of(), requests, 1, List.of(), Capture.CALLS_USUAL)));
    var servers = check.servers(inputs);
    assertThat(servers.getFirst().requests()).hasSize(24);
    assertThat(servers.getFirst().weight()).isEqualTo(0.6);
    assertThat(check.notes())
        .anyMatch(note -> note.contains("1 requests without times"))
        .anyMatch(note -> note.contains("only 24 requests"))
        .anyMatch(note -> note.contains("KV memory was never full"));
  }

  @Test
  void memoryIsWhatRequestsHeldAtATimeIfManyWaited() {
    var requests = new ArrayList<Captured>();
    for (int i = 0; i < 20; i++) {
      var request = Made.requests(1, 1, i).getFirst().request().named("r" + i).at(i * 1_000_000L);
      long first = i * 10_000_000_000L;
      requests.add(new Captured(request, "gpu0", 1 + first, 1 + first + 9_000_000_000L, 0));
    }
    var seen = KvEstimate.of(requests, 16);
    assertThat(seen.isFull()).isTrue();
    int most = requests.stream().mapToInt(each -> each.request().tokens()).max().orElseThrow();
    assertThat(seen.peakBlocks()).isBetween(most / 16 - 2, most / 16 + 1);
    assertThat(KvEstimate.of(CALM.requests(), 16).isFull()).isFalse();
  }
}
