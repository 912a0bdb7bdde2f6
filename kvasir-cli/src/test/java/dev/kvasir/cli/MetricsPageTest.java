package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.workers.WorkerSources;
import dev.kvasir.embedded.EngineMeter;
import dev.kvasir.gateway.TieredCacheMetrics;
import dev.kvasir.gateway.journal.EventMetrics;
import dev.kvasir.gateway.journal.GatewayMetrics;
import dev.kvasir.gateway.journal.Journal;
import dev.kvasir.gateway.picker.Picker;
import dev.kvasir.gateway.prompt.FileTokenizers;
import dev.kvasir.gateway.replica.IndexSnapshots;
import dev.kvasir.gateway.replica.ReplicaGroup;
import dev.kvasir.gateway.request.PromptNaming;
import dev.kvasir.net.metrics.MetricSet;
import dev.kvasir.net.metrics.MetricSet.Family;
import dev.kvasir.net.openai.SessionHints;
import dev.kvasir.net.server.HttpFront;
import dev.kvasir.tierd.TierText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/** Every declared metric has its line in docs/metrics.md, and the Grafana board shows only such. */
class MetricsPageTest {
  private static final Path ROOT = Path.of(System.getProperty("kvasir.root", ".."));

  private static final List<MetricSet<?>> ROUTER =
      List.of(
          GatewayMetrics.METRICS,
          PromptNaming.METRICS,
          SessionHints.METRICS,
          FileTokenizers.METRICS,
          EventMetrics.METRICS,
          HttpFront.METRICS,
          Journal.METRICS,
          TieredCacheMetrics.METRICS);
  private static final List<MetricSet<?>> ENGINE = List.of(EngineMeter.METRICS);
  private static final List<MetricSet<?>> TIER = List.of(TierText.METRICS);

  @Test
  void everyMetricOfTheRouterHasItsLine() throws IOException {
    compare("## Router", ROUTER);
  }

  @Test
  void everyMetricOfThePickerHasItsLine() throws IOException {
    compare("## Endpoint picker", List.of(Picker.METRICS));
  }

  @Test
  void everyMetricOfDiscoveryHasItsLine() throws IOException {
    compare("## Discovery", List.of(WorkerSources.METRICS));
  }

  @Test
  void everyMetricOfSeveralGatewaysHasItsLine() throws IOException {
    compare("## Several gateways", List.of(ReplicaGroup.METRICS, IndexSnapshots.METRICS));
  }

  @Test
  void everyMetricOfAnEngineHasItsLine() throws IOException {
    compare("## Embedded engine", ENGINE);
  }

  @Test
  void everyMetricOfTheTierDaemonHasItsLine() throws IOException {
    compare("## Tier daemon", TIER);
  }

  /** Compares the beginning of each line with the declared name and type. */
  private static void compare(String heading, List<MetricSet<?>> sets) throws IOException {
    var page = Files.readString(ROOT.resolve("docs/metrics.md"));
    assertThat(page).contains(heading + "\n");
    var section = page.substring(page.indexOf(heading));
    int end = section.indexOf("\n## ");
    var written = new ArrayList<String>();
    for (var line : (end < 0 ? section : section.substring(0, end)).lines().toList()) {
      if (line.startsWith("| `")) {
        written.add(line.substring(0, line.indexOf('|', line.indexOf('|', 1) + 1) + 1));
      }
    }
    var declared = families(sets).stream().map(MetricsPageTest::start).toList();
    assertThat(written).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(declared);
  }

  private static String start(Family family) {
    return "| `" + family.name() + "` | " + family.type().word() + " |";
  }

  private static List<Family> families(List<MetricSet<?>> sets) {
    return sets.stream().flatMap(set -> set.families().stream()).toList();
  }

  @Test
  void namesFollowTheRulesOfPrometheus() {
    for (var sets : List.of(ROUTER, ENGINE, TIER)) {
      var families = families(sets);
      assertThat(families.stream().map(Family::name)).doesNotHaveDuplicates();
      for (var family : families) {
        assertThat(family.name()).matches("(kvasir_|vllm:)[a-z0-9_]+");
        assertThat(family.name().endsWith("_total"))
            .as(family.name())
            .isEqualTo(family.type() == MetricSet.Type.COUNTER);
        assertThat(family.help()).as(family.name()).endsWith(".");
      }
    }
  }

  @Test
  void theBoardsShowWhatIsDeclaredAndAsWhatItIs() throws IOException {
    var declared = new ArrayList<>(families(ROUTER));
    declared.addAll(families(ENGINE));
    requireDeclared("kvasir.json", 30, declared);
    requireDeclared("kvasir-tier.json", 15, families(TIER));
  }

  private static void requireDeclared(String board, int queriesMin, List<Family> declared)
      throws IOException {
    var file = Files.readString(ROOT.resolve("examples/grafana").resolve(board));
    var queries = JsonMapper.shared().readTree(file).findValues("expr");
    assertThat(queries).hasSizeGreaterThan(queriesMin);
    for (var query : queries) {
      var names = Pattern.compile("\\b(?:vllm:|kvasir_)\\w+").matcher(query.asString());
      while (names.find()) {
        var name = names.group().replaceAll("_(bucket|sum|count)$", "");
        var family = declared.stream().filter(f -> f.name().equals(name)).findFirst();
        assertThat(family).as(query.asString()).isPresent();
        boolean isRate = query.asString().matches(".*(rate|increase)\\([^()]*" + name + ".*");
        assertThat(isRate)
            .as("a rate: " + query.asString())
            .isEqualTo(family.get().type() != MetricSet.Type.GAUGE);
      }
    }
  }
}
