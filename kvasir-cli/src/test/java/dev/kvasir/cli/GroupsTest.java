package dev.kvasir.cli;

import static dev.kvasir.cli.Spoken.kvasir;
import static dev.kvasir.cli.Spoken.words;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Engines that differ, as they are written in a file and shown. */
final class GroupsTest {
  private static final String WORKLOAD =
      """
      workload:
        seed: 3
        requests: 90
        clients:
          - {id: small, model: small, rate: 20, input: 1500, output: 30}
          - {id: large, model: large, rate: 10, input: 1500, output: 30}
      """;

  private static final String GROUPS =
      """
      engines:
        groups:
          h100: {count: 1, gpu: H100, gpu-hour: 3, model: small}
          l40s: {count: 1, dp: 2, gpu: L40S, gpu-hour: 1, model: small}
          large: {gpu: H100, gpu-hour: 3, tp: 2, model: large}
      """;

  @TempDir private Path folder;

  @Test
  void groupsAndModelsAreShownInTextJsonAndThePage() throws IOException {
    var requests = folder.resolve("requests.jsonl");
    var page = folder.resolve("page.html");
    var run = simulate(GROUPS, "--json", "--requests-out", requests, "--report", page).json();
    var groups = run.path("groups");
    assertThat(groups.valueStream().map(each -> each.path("group").asString()))
        .containsExactly("h100", "l40s", "large");
    assertThat(groups.valueStream().map(each -> each.path("engines").asInt()))
        .containsExactly(1, 2, 1);
    assertThat(groups.valueStream().mapToLong(each -> each.path("requests").asLong()).sum())
        .isEqualTo(90);
    var models = run.path("models");
    assertThat(models.at("/0/engines").asInt()).isEqualTo(3);
    assertThat(models.at("/0/requests").asLong() + models.at("/1/requests").asLong()).isEqualTo(90);
    for (var each : Spoken.requests(requests).values()) {
      boolean isLarge = each.path("model").asString().equals("large");
      assertThat(each.path("instance").asString().equals("instance_3")).isEqualTo(isLarge);
    }
    assertThat(Files.readString(page)).contains("Groups", "Models", ">l40s<");
    assertThat(simulate(GROUPS).out())
        .containsPattern("(?m)^l40s +2 +\\d+")
        .containsPattern("(?m)^small +3 +\\d+");
  }

  @Test
  void aModelThatNobodyHasIsRejectedAndSaid() throws IOException {
    var run = simulate(GROUPS.replace("model: large", "model: larger"), "--json");
    long requested = run.json().at("/models/2/requests").asLong();
    assertThat(requested).isPositive();
    assertThat(run.json().path("rejected_requests").asLong()).isEqualTo(requested);
    assertThat(run.err())
        .contains(
            requested + " requests ask for the model large, which no engine serves: they get 404");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"timestamp\":%d,\"input_length\":900,\"output_length\":9,\"model\":\"%s\"}",
        "{\"schema\":\"kvasir.capture.v1\",\"arrival_us\":%d,\"prompt_tokens\":900,"
            + "\"output_tokens\":9,\"model\":\"%s\"}"
      })
  void theModelInATraceChoosesTheGroup(String row) throws IOException {
    var rows = List.of(row.formatted(0, "large"), row.formatted(1, "small"));
    var trace = Files.write(folder.resolve("trace.jsonl"), rows);
    var run = kvasir(words("simulate --json --config", file(GROUPS, ""), "--trace", trace)).json();
    assertThat(run.at("/groups/2/requests").asLong()).isEqualTo(1);
    assertThat(run.at("/models/0/completed_requests").asLong()).isEqualTo(1);
    assertThat(run.path("completed_requests").asLong()).isEqualTo(2);
  }

  @Test
  void aSingleGroupForAllRequestsIsWhatEqualEnginesAreByteForByte() throws IOException {
    var equal = "engines: {count: 2, total-kv-blocks: 900}\nhardware: {gpu: L40S, tp: 2}\n";
    var group = "engines: {groups: {all: {count: 2, total-kv-blocks: 900, gpu: L40S, tp: 2}}}\n";
    assertThat(simulate(group, "--json").out()).isEqualTo(simulate(equal, "--json").out());
    assertThat(simulate(group).out()).isEqualTo(simulate(equal).out());
  }

  @Test
  void theSameSeedGivesTheSameBytes() throws IOException {
    assertThat(simulate(GROUPS, "--json").out()).isEqualTo(simulate(GROUPS, "--json").out());
  }

  @Test
  void aSweepReachesAGroupByItsNameAndCostsAddUp() throws IOException {
    var sweep = List.of("--json", "--sweep", "engines.groups.l40s.count=0,2");
    var runs = simulate(GROUPS, sweep.toArray()).json();
    double seconds = runs.at("/1/summary/vllm_estimated_duration_s").asDouble();
    assertThat(runs.at("/0/summary/groups").size()).isEqualTo(2);
    assertThat(runs.at("/1/cost/gpus").asInt()).isEqualTo(1 + 4 + 2);
    assertThat(runs.at("/1/cost/total").asDouble())
        .isCloseTo((3 + 4 * 1 + 2 * 3) * seconds / 3600, within(1e-9));
  }

  @Test
  void aPlanCountsTheEnginesOfOneGroup() throws IOException {
    var run = kvasir(words("plan --slo-ttft 2000 --json --group l40s --config", file(GROUPS)));
    var runs = run.json();
    int best = 0;
    while (!runs.get(best).has("best")) best++;
    assertThat(runs.get(best).at("/settings/engines.groups.l40s.count").asString()).isEqualTo("1");
    assertThat(kvasir(words("plan --slo-ttft 2000 --config", file(GROUPS))).err())
        .contains("name one of [h100, l40s, large] with --group");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{a: {cuont: 1}} | unknown key 'cuont'; did you mean 'count'?",
        "{} | there is no group",
        "{a: {}} | the group says nothing",
        "{a: {count: 0}} | there are no engines",
        "{a: {count: -1}} | count -1, expected 0 or more",
        "{a.b: {count: 1}} | a group is named 'a.b'",
        "{a: {gpu: H1, model: m}} | no GPU named H1",
        "{a: {role: prefill, model: m}} | no instance decodes"
      })
  void mistakesAreNamed(String groups, String expected) throws IOException {
    var run = simulate("engines: {groups: " + groups + "}\n");
    assertThat(run.code()).as(run.out()).isIn(ExitCode.USAGE, ExitCode.DATA);
    assertThat(run.err()).contains(expected);
  }

  @Test
  void whatCannotBeCombinedIsRefused() throws IOException {
    assertThat(simulate(GROUPS + "  count: 2\n").err()).contains("both groups and count");
    assertThat(simulate(GROUPS, "--set", "simulation.autoscaling.engines-min=1").err())
        .contains("autoscaling and groups of unlike engines");
    assertThat(simulate(GROUPS, "--set", "engines.sharing=tiers").err())
        .contains("leave out engines.sharing");
    assertThat(simulate(GROUPS, "--compat", "blis").err()).contains("--compat blis");
    var profile = "hardware: {profile: p.json}\n";
    assertThat(simulate(GROUPS + profile).err()).contains("give the profile in each group");
    var serve = kvasir(words("serve --port 0 --config", file(GROUPS, "")));
    assertThat(serve.code()).isEqualTo(ExitCode.USAGE);
    assertThat(serve.err()).contains("groups are for kvasir simulate");
  }

  @Test
  void countingEnginesOnTopOfAFileMeansEqualEngines() throws IOException {
    var run = simulate(GROUPS, "--instances", "2", "--json").json();
    assertThat(run.has("groups")).isFalse();
    assertThat(run.path("instances").size()).isEqualTo(2);
  }

  /** A GPU that prefills for another one, of the same model. */
  @Test
  void oneGroupPrefillsForAnother() throws IOException {
    var groups =
        """
        engines:
          groups:
            fast: {role: prefill, gpu: H200}
            slow: {role: decode, gpu: L40S}
        routing: {placement: always, heavy-tokens-min: 500}
        """;
    var run = simulate(groups, "--json").json();
    assertThat(run.at("/instances/0/prefills_for_others").asLong()).isPositive();
    assertThat(run.path("completed_requests").asLong()).isEqualTo(90);
  }

  private Spoken simulate(String deployment, Object... more) throws IOException {
    return kvasir(words("simulate --config " + file(deployment), more));
  }

  private Path file(String deployment) throws IOException {
    return file(deployment, WORKLOAD);
  }

  private Path file(String deployment, String workload) throws IOException {
    return Files.writeString(folder.resolve("kvasir.yaml"), workload + deployment);
  }
}
