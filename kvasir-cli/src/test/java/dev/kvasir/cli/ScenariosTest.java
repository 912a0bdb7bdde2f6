package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** The scenarios in examples run, and show what their comments promise. */
@Tag("all")
final class ScenariosTest {
  private static final Path ROOT = Path.of(System.getProperty("kvasir.root", ".."));
  private static final Path EXAMPLES = ROOT.resolve("examples");

  /** All but the example of a configuration for serve. */
  static List<Path> scenarios() throws IOException {
    try (var files = Files.list(EXAMPLES)) {
      return files
          .filter(file -> file.toString().endsWith(".yaml"))
          .filter(file -> !file.endsWith("kvasir.yaml"))
          .sorted()
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  void everyScenarioSaysHowToRunIt(Path scenario) throws IOException {
    assertThat(Files.readString(scenario))
        .contains("#   ./kvasir simulate --config examples/" + scenario.getFileName())
        .containsPattern("Look\\sat");
  }

  @Test
  void theGuideShowsWhatTheExampleAsks() throws IOException {
    var guide = Files.readString(ROOT.resolve("docs/simulate.md"));
    var shown = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL).matcher(guide);
    assertThat(shown.find()).isTrue();
    assertThat(Files.readString(EXAMPLES.resolve("host-memory.yaml"))).endsWith(shown.group(1));
  }

  @Test
  void moreHostMemoryFindsMore() {
    var runs = run("host-memory.yaml");
    for (int i = 1; i < runs.size(); i++) {
      assertThat(cached(runs.get(i))).isGreaterThan(cached(runs.get(i - 1)));
    }
    assertThat(runs.at("/3").has("best")).isTrue();
  }

  @Test
  void policiesOfEvictionDiffer() {
    var runs = run("eviction.yaml");
    assertThat(runs.size()).isEqualTo(5);
    var rates = runs.valueStream().mapToDouble(ScenariosTest::cached).sorted().toArray();
    assertThat(rates[4] - rates[0]).isGreaterThan(0.02);
  }

  @Test
  void tooFewInstancesMissTheTargets() {
    var runs = run("instances.yaml");
    assertThat(runs.at("/0/summary/slo_attainment").asDouble()).isLessThan(0.5);
    assertThat(runs.at("/2").has("best")).isTrue();
  }

  @Test
  void aDiskThatHoldsAllDocumentsFindsThemAndKeepsTheTargets() {
    var runs = run("disk.yaml");
    assertThat(cached(runs.get(2))).isGreaterThan(cached(runs.get(0)) + 0.2);
    assertThat(runs.at("/2").has("best")).isTrue();
    assertThat(within(runs.get(1))).isLessThan(within(runs.get(0)) + 0.02);
  }

  @Test
  void aBucketThatIsSlowerThanComputingLosesToASecondGpu() {
    var runs = run("bucket.yaml");
    assertThat(cached(runs.get(1))).isGreaterThan(cached(runs.get(0)) + 0.3);
    assertThat(within(runs.get(1))).isLessThan(within(runs.get(0)) - 0.1);
    assertThat(runs.at("/2").has("best")).isTrue();
  }

  @Test
  void aBucketThatIsFastEnoughKeepsTheTargetsForLessThanASecondGpu() {
    var runs =
        run("bucket.yaml", "--set", "tiers.object.link=11", "--set", "tiers.object.latency=5ms");
    assertThat(within(runs.get(0))).isLessThan(0.9);
    assertThat(runs.at("/1").has("best")).isTrue();
    assertThat(runs.at("/1/cost/total").asDouble()).isLessThan(runs.at("/2/cost/total").asDouble());
  }

  @Test
  void aSecondFastGpuIsCheaperThanThreeSlowOnes() {
    var runs = run("groups.yaml");
    assertThat(within(runs.get(0))).isLessThan(0.9);
    assertThat(within(runs.get(1))).isGreaterThan(0.9);
    assertThat(runs.at("/2").has("best")).isTrue();
    assertThat(runs.at("/1/summary/groups").size()).isEqualTo(3);
  }

  private static double within(JsonNode run) {
    return run.at("/summary/slo_attainment").asDouble();
  }

  private static double cached(JsonNode run) {
    return run.at("/summary/token_hit_rate").asDouble();
  }

  private static JsonNode run(String scenario, String... more) {
    var words = Spoken.words("simulate --json --config", EXAMPLES.resolve(scenario));
    words.addAll(List.of(more));
    return Spoken.kvasir(words).json();
  }
}
