package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.router.view.Role;
import dev.kvasir.sim.calibrate.ProfileJson;
import dev.kvasir.sim.result.Gaps;
import dev.kvasir.sim.server.ServerModel;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The times between tokens that a profile foretells. */
class ProfileGapsTest {
  private static final int OUTPUTS = 20;

  @Test
  void aLonePromptsTokensComeAsFastAsItsStepsAre() throws IOException {
    var run = new Gaps();
    double mean = ofLonePrompts(6_000, OUTPUTS, List.of(Role.BOTH), run);
    assertThat(mean).isCloseTo(4_960, within(10.0));
    assertThat(run.meanMicros()).isCloseTo(mean, within(1.0));
    assertThat(run.percentileMicros(100)).isLessThan(5_100);
    assertThat(run.count()).isEqualTo(30 * (OUTPUTS - 1));
  }

  @ParameterizedTest
  @CsvSource({"32000, 2, false", "6000, 20, true", "100, 3, true"})
  void whatIsBetweenTheFirstTokenAndTheLastAreItsGaps(int prompt, int outputs, boolean isSplit)
      throws IOException {
    var roles = isSplit ? List.of(Role.PREFILL, Role.DECODE) : List.of(Role.BOTH);
    var run = new Gaps();
    double mean = ofLonePrompts(prompt, outputs, roles, run);
    assertThat(run.meanMicros()).isCloseTo(mean, within(1.0));
    assertThat(run.count()).isEqualTo(30 * (outputs - 1));
  }

  /** Returns (E2E - TTFT) / gaps of 30 prompts that meet nobody. */
  private static double ofLonePrompts(int prompt, int outputs, List<Role> roles, Gaps all)
      throws IOException {
    var requests = new ArrayList<Request>();
    for (int i = 0; i < 30; i++) {
      long arrival = i * 20_000_000_000L;
      requests.add(Request.of("r" + i, arrival, prompt, outputs, Content.unique(i)));
    }
    var instance = Clusters.alone(Clusters.engine(64, 8192), 4_000, 16);
    var spec = Clusters.of(roles, instance, "round-robin", roles.size() > 1 ? "always" : "never");
    var workload = Workload.open(requests.iterator());
    var run = new Simulator(spec, profile(), workload).run(_ -> {});
    for (var each : run.instances()) all.addAll(each.gaps());
    return run.requests().stream()
        .mapToDouble(each -> (each.e2eMicros() - each.ttftMicros()) / (outputs - 1.0))
        .average()
        .orElseThrow();
  }

  private static ServerModel profile() throws IOException {
    var root = Path.of(System.getProperty("kvasir.root", ".."));
    var file = root.resolve("profiles/h200-vllm-0.26-8b-bf16.json");
    try (var text = Files.newBufferedReader(file)) {
      return new ServerModel(ProfileJson.read(text, "the profile").times());
    }
  }
}
