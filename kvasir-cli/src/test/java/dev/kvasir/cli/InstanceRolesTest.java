package dev.kvasir.cli;

import static dev.kvasir.cli.Spoken.kvasir;
import static dev.kvasir.cli.Spoken.words;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Tests what a simulated cluster of several roles reports about each instance. */
final class InstanceRolesTest {
  private static final String HEAVY =
      """
      requests: 120
      clients:
        - id: readers
          rate: 6
          input: {distribution: uniform, min: 6000, max: 9000}
          output: {distribution: exponential, mean: 60, max: 200}
      """;

  private static final String ROLES = "simulate --json --prefill-instances 2 --decode-instances 2";

  @TempDir private Path folder;

  @Test
  void instancesForPromptsGetPromptsWithoutAWordAboutPlacement() throws IOException {
    var run = run(ROLES, HEAVY);
    assertThat(run.err()).doesNotContain("warning");
    assertThat(run.json().path("offload_share").asDouble()).isPositive();
    long prefills = 0;
    for (var each : run.json().path("instances")) {
      prefills += each.path("prefills_for_others").asLong();
    }
    assertThat(prefills).isPositive();
  }

  @Test
  void aRoleWithoutWorkDrawsAWarningThatSaysWhatToSet() throws IOException {
    assertThat(run(ROLES + " --placement never", HEAVY).err())
        .contains("none of the 2 prefill instances got work")
        .contains("--placement predictive");
    assertThat(run(ROLES, HEAVY.replace("min: 6000, max: 9000", "min: 60, max: 90")).err())
        .contains("none of the 2 prefill instances got work")
        .contains("2048 (routing.heavy-tokens-min)");
    var sweep = run(ROLES + " --sweep routing.placement=never,predictive", HEAVY);
    assertThat(sweep.err().lines().filter(each -> each.contains("warning"))).hasSize(1);
  }

  @Test
  void jsonTellsWhatEachInstanceDid() throws IOException {
    var requests = folder.resolve("requests.jsonl");
    var run = run(ROLES + " --instances 2 --requests-out " + requests, HEAVY).json();
    var instances = run.path("instances");
    assertThat(instances.valueStream().map(each -> each.path("role").asString()))
        .containsExactly("both", "both", "prefill", "prefill", "decode", "decode");
    long answered = 0;
    for (int i = 0; i < instances.size(); i++) {
      var name = "instance_" + i;
      var figures = instances.get(i);
      long reported = figures.path("requests").asLong();
      answered += reported;
      assertThat(figures.path("instance").asString()).isEqualTo(name);
      assertThat(reported).isEqualTo(count(requests, "instance", name));
      assertThat(figures.path("prefills_for_others").asLong())
          .isEqualTo(count(requests, "prefill_instance", name));
      assertThat(figures.path("utilisation").asDouble()).isBetween(0.0, 1.0);
      assertThat(figures.has("block_hit_rate") && figures.has("token_hit_rate")).isTrue();
    }
    assertThat(answered).isEqualTo(run.path("completed_requests").asLong());
  }

  /** All tokens count once: what the instances found adds up to what the cluster found. */
  @Test
  void hitRatesOfOneInstanceAreThoseOfTheCluster() throws IOException {
    var again = HEAVY.replace("output:", "prefix: {group: all, tokens: 3000}\n    output:");
    var run = run("simulate --json", again).json();
    JsonNode only = run.path("instances").get(0);
    assertThat(run.path("token_hit_rate").asDouble()).isPositive();
    assertThat(only.path("token_hit_rate").asDouble())
        .isCloseTo(run.path("token_hit_rate").asDouble(), within(1e-12));
    assertThat(only.path("block_hit_rate").asDouble())
        .isCloseTo(run.path("cache_hit_rate").asDouble(), within(1e-12));
  }

  private static long count(Path requests, String field, String instance) {
    return Spoken.requests(requests).values().stream()
        .filter(each -> each.path(field).asString("").equals(instance))
        .count();
  }

  private Spoken run(String line, String workload) throws IOException {
    var file = Files.writeString(folder.resolve("asked.yaml"), workload);
    var run = kvasir(words(line + " --workload", file));
    assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.OK);
    return run;
  }
}
