package dev.kvasir.cli;

import static dev.kvasir.cli.Spoken.kvasir;
import static dev.kvasir.cli.Spoken.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.config.GivenOptions;
import dev.kvasir.cli.settings.Configuration;
import dev.kvasir.cli.settings.TierList;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The file that {@code serve} runs, as {@code simulate} predicts it. */
final class DeploymentFileTest {
  private static final Path ROOT = Path.of(System.getProperty("kvasir.root", ".."));
  private static final String WORKERS =
      """
      workers:
        - {url: "http://a:8000", role: prefill, connector: nixl}
        - {url: "http://b:8000", role: decode, connector: nixl}
        - url: http://c:8000
      engines: {total-kv-blocks: 3000}
      """;

  @TempDir private Path folder;

  @Test
  void theExampleThatServesIsPredictedWithItsEnginesAndTiers() throws IOException {
    var run = simulate(ROOT.resolve("examples/kvasir.yaml"), "");
    assertThat(run.path("instances").size()).isEqualTo(2);
    assertThat(tiers(run)).containsExactly("device", "host", "disk");
  }

  @Test
  void workersOfAFileAreSimulatedInTheirRolesUnlessEnginesAreCounted() throws IOException {
    var file = file(WORKERS);
    assertThat(roles(simulate(file, ""))).containsExactly("prefill", "decode", "both");
    assertThat(tiers(simulate(file, ""))).containsExactly("device");
    assertThat(roles(simulate(file, " --instances 2"))).containsExactly("both", "both");
    assertThat(roles(simulate(file, " --set engines.count=1"))).containsExactly("both");
  }

  @Test
  void workersThatCannotHandOverPrefillForThemselves() throws IOException {
    var apart = file(WORKERS.replace(", connector: nixl", "").replace("prefill", "both"));
    var run = simulate(apart, " --set routing.heavy-tokens-min=1");
    assertThat(run.path("offload_share").asDouble(0)).isZero();
  }

  @Test
  void flagsGoBeforeTheEnvironmentAndThatBeforeTheFile() throws IOException {
    var file = file("engines: {count: 1}\nhardware: {gpu: H100}\n");
    var variables = Map.of("KVASIR_ENGINES_COUNT", "2");
    assertThat(instances(file, Map.of())).isEqualTo(1);
    assertThat(instances(file, variables)).isEqualTo(2);
    assertThat(instances(file, variables, "--instances", "3")).isEqualTo(3);
    assertThat(instances(file, variables, "--instances", "3", "--set", "engines.count=4"))
        .isEqualTo(4);
  }

  @Test
  void aQueueThatIsFullRefusesRequestsThereAsItDoesHere() throws IOException {
    var narrow =
        """
        engines: {count: 1}
        hardware: {gpu: H100}
        limits: {queue: {in-flight-max: 1, waiting-max: 1}}
        """;
    var at = " --set simulation.time-scale=0.001";
    assertThat(simulate(file(narrow), at).path("completed_requests").asInt()).isEqualTo(2);
    var wide = file(narrow.replace("waiting-max: 1", "waiting-max: 100"));
    assertThat(simulate(wide, at).path("completed_requests").asInt()).isEqualTo(6);
    var line = "simulate --json --set limits.queue.in-flight-max=1" + at;
    var set = " --set limits.queue.waiting-max=2 --trace";
    assertThat(kvasir(words(line + set, trace())).json().path("completed_requests").asInt())
        .isEqualTo(3);
  }

  @Test
  void aSizeIsAsManyBlocksAsFitIntoIt() throws IOException {
    var read = tiers("tiers: [{kind: host, size: 1.5GiB}]\n", GivenOptions.NOTHING);
    // 131,072 bytes a token, 16 tokens a block: 512 blocks a GiB.
    assertThat(read.getFirst().blocks(131_072 * 16)).isEqualTo(768);
    var sweep = "simulate --json --sweep tiers.host.size=0,1GiB --trace";
    var swept = kvasir(words(sweep, trace())).json();
    assertThat(tiers(swept.at("/0/summary"))).containsExactly("device");
    assertThat(tiers(swept.at("/1/summary"))).containsExactly("device", "host");
  }

  @Test
  void tiersStandInTheOrderOfTheListAndOneThatIsAddedStandsAboveSlowerOnes() throws IOException {
    var list = "tiers: [{kind: host, blocks: 9}, {kind: object}, {kind: disk, blocks: 20}]\n";
    assertThat(kinds(tiers(list, GivenOptions.NOTHING))).containsExactly("host", "object", "disk");
    var two = list.replace(", {kind: disk, blocks: 20}", "");
    var disk = GivenOptions.NOTHING.with("--disk-blocks", "tiers.disk.blocks", "20");
    assertThat(kinds(tiers(two, disk))).containsExactly("host", "disk", "object");
    var none = GivenOptions.NOTHING.with("--set", "tiers.object.blocks", "0");
    assertThat(kinds(tiers(list, none))).containsExactly("host", "disk");
    var hostless = GivenOptions.NOTHING.with("--set", "tiers.host.blocks", "0");
    assertThat(kinds(tiers(list, hostless))).isEmpty();
  }

  @Test
  void withoutAListEmbeddedEnginesHaveHostAndDiskAndOthersHaveNoTiers() throws IOException {
    assertThat(kinds(tiers("", GivenOptions.NOTHING))).containsExactly("host", "disk");
    assertThat(tiers("tiers: []", GivenOptions.NOTHING)).isEmpty();
    assertThat(tiers("hardware: {gpu: H100}", GivenOptions.NOTHING)).isEmpty();
    assertThat(tiers(WORKERS, GivenOptions.NOTHING)).isEmpty();
  }

  private List<TierList.Entry> tiers(String yaml, GivenOptions given) throws IOException {
    return new Configuration(file(yaml), Map.of(), given.keys()).read().tiers().entries();
  }

  private static List<String> kinds(List<TierList.Entry> tiers) {
    return tiers.stream().map(each -> each.kind().word()).toList();
  }

  private JsonNode simulate(Path file, String more) throws IOException {
    return kvasir(words("simulate --json" + more + " --config", file, "--trace", trace())).json();
  }

  private long instances(Path file, Map<String, String> variables, String... more)
      throws IOException {
    var line = words("simulate --json --config", file, "--trace", trace());
    line.addAll(List.of(more));
    var out = new StringWriter();
    var err = new StringWriter();
    int code =
        Main.run(
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            variables,
            line.toArray(String[]::new));
    assertThat(code).as(err.toString()).isZero();
    return JsonMapper.shared().readTree(out.toString()).path("instances").size();
  }

  private static List<String> tiers(JsonNode run) {
    return run.path("tiers").valueStream().map(each -> each.path("tier").asString()).toList();
  }

  private static List<String> roles(JsonNode run) {
    return run.path("instances").valueStream().map(each -> each.path("role").asString()).toList();
  }

  private Path file(String yaml) throws IOException {
    return Files.writeString(folder.resolve("kvasir.yaml"), yaml);
  }

  private Path trace() throws IOException {
    var rows = new StringBuilder();
    for (int i = 0; i < 6; i++) {
      rows.append(
          "{\"timestamp\": %d, \"input_length\": 600, \"output_length\": 2, \"hash_ids\": [1]}\n"
              .formatted(i * 50));
    }
    return Files.writeString(folder.resolve("trace.jsonl"), rows);
  }
}
