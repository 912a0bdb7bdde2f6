package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** The cheapest deployment, as it is asked for on the command line. */
final class PlanTest {
  private static final String WORKLOAD =
      """
      requests: 400
      clients:
        - id: chat
          rate: 60
          input: {distribution: uniform, min: 2000, max: 4000}
          output: 60
      """;

  @TempDir private Path folder;
  private Path workload = Path.of("");
  private String out = "";
  private String err = "";

  @BeforeEach
  void writeWorkload() throws IOException {
    workload = Files.writeString(folder.resolve("chat.yaml"), WORKLOAD);
  }

  @Test
  void theCheapestKeepsTheTargetsAndOneEngineFewerDoesNot() {
    assertThat(plan("--slo-ttft", "300", "--gpus", "H100=2.5,H200=3.5", "--json"))
        .isEqualTo(ExitCode.OK);
    var runs = JsonMapper.shared().readTree(out);
    int best = -1;
    for (int i = 0; i < runs.size(); i++) if (runs.get(i).has("best")) best = i;
    var chosen = runs.get(best);
    var gpu = chosen.at("/settings/hardware.gpu").asString();
    int engines = Integer.parseInt(chosen.at("/settings/engines.count").asString());
    assertThat(engines).isGreaterThan(1);
    assertThat(within(gpu, engines)).isGreaterThanOrEqualTo(0.99);
    assertThat(within(gpu, engines - 1)).isLessThan(0.99);
  }

  @Test
  void theAdviceNamesTheCheapestAndTheRunnerUp() {
    plan("--slo-ttft", "300", "--gpus", "H100=2.5,H200=3.5");
    assertThat(out.lines().filter(line -> line.startsWith("cheapest   hardware.gpu=H"))).hasSize(1);
    assertThat(out.lines().filter(line -> line.startsWith("runner-up  hardware.gpu=H"))).hasSize(1);
    assertThat(out).contains("one engine fewer: ");
  }

  @Test
  void whatCannotBeKeptIsSaid() {
    assertThat(plan("--slo-ttft", "1", "--engines-max", "2")).isEqualTo(ExitCode.UNAVAILABLE);
    assertThat(out).contains("no alternative keeps the targets with up to 2 engines");
    plan("--slo-ttft", "300", "--runs", "1");
    assertThat(out).contains("cut short  after 1 runs");
  }

  @Test
  void helpShowsOnlyWhatItTakes() {
    assertThat(run(List.of("plan", "--help"))).isEqualTo(ExitCode.OK);
    assertThat(out).contains("--engines-max", "--prefill-instances").doesNotContain("--instances=");
    assertThat(plan("--slo-ttft", "300", "--instances", "2")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void mistakesAreNamed() {
    assertThat(plan()).isEqualTo(ExitCode.USAGE);
    assertThat(err).contains("give --slo-ttft, --slo-itl or --slo-e2e", "kvasir plan --help");
    assertThat(plan("--slo-ttft", "300", "--gpus", "H100")).isEqualTo(ExitCode.USAGE);
    assertThat(err).contains("as in H100=2.49,H200=3.79");
    assertThat(plan("--slo-ttft", "300", "--gpus", "H100=two")).isEqualTo(ExitCode.USAGE);
    assertThat(err).contains("--gpus: cost.gpu-hour: 'two', expected a number");
    assertThat(plan("--slo-ttft", "300", "--gpus", "H1=2")).isEqualTo(ExitCode.USAGE);
    assertThat(err).contains("no GPU named H1");
    assertThat(plan("--slo-ttft", "300", "--sweep", "instances=1,2")).isEqualTo(ExitCode.USAGE);
    assertThat(err).contains("remove engines.count from --sweep");
  }

  private double within(String gpu, int engines) {
    var words = List.of("--hardware", gpu, "--instances", "" + engines, "--slo-ttft", "300");
    var all = new ArrayList<>(List.of("simulate", "--workload", "" + workload, "--json"));
    all.addAll(words);
    run(all);
    return JsonMapper.shared().readTree(out).path("slo_attainment").asDouble(-1);
  }

  private int plan(String... words) {
    var all = new ArrayList<>(List.of("plan", "--workload", "" + workload));
    all.addAll(List.of(words));
    return run(all);
  }

  private int run(List<String> words) {
    var output = new StringWriter();
    var wrong = new StringWriter();
    var args = words.toArray(String[]::new);
    int code =
        Main.run(new PrintWriter(output, true), new PrintWriter(wrong, true), Map.of(), args);
    out = output.toString();
    err = wrong.toString();
    return code;
  }
}
