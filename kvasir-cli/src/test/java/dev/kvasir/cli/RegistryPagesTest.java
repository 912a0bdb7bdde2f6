package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.evict.EvictionKind;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.sim.trace.TraceFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The tables of the pages have a row for each entry of a registry, and no other. */
final class RegistryPagesTest {
  private static final Path DOCS = Path.of(System.getProperty("kvasir.root", "..")).resolve("docs");
  private static final Pattern NAME = Pattern.compile("`([a-z0-9-]+)`");

  @Test
  void thePageOfTraceFormatsHasEachFormat() throws IOException {
    assertThat(names("trace-formats.md", "| format | title |", 2))
        .containsExactlyInAnyOrderElementsOf(TraceFormat.titles());
  }

  @Test
  void thePageOfEvictionHasEachPolicyAndTheHelpSaysWhatItDoes() throws IOException {
    var known = new ArrayList<>(EvictionKind.NAMES);
    known.add("optimal"); // It knows the future, so that no engine has it.
    assertThat(names("eviction.md", "| name |", 1)).containsExactlyInAnyOrderElementsOf(known);
    var help = String.join(" ", Spoken.kvasir("simulate", "--help").out().split("\\s+", -1));
    for (var kind : EvictionKind.values()) {
      assertThat(help).contains(kind.title() + " (" + kind.description() + ")");
    }
  }

  @Test
  void thePageOfTheSimulatorHasEachRoutingAndEachPlacement() throws IOException {
    assertThat(names("simulate.md", "| `--routing` |", 1))
        .containsExactlyInAnyOrderElementsOf(PickPolicy.NAMES);
    assertThat(names("simulate.md", "| `--placement` |", 1))
        .containsExactlyInAnyOrderElementsOf(PlacementPolicy.NAMES);
  }

  /** The words in a column of the table that begins so. */
  private static List<String> names(String page, String head, int column) throws IOException {
    var names = new ArrayList<String>();
    var rows =
        Files.readAllLines(DOCS.resolve(page)).stream()
            .dropWhile(line -> !line.startsWith(head))
            .skip(2)
            .takeWhile(line -> line.startsWith("|"))
            .toList();
    for (var row : rows) {
      var cell = row.split("\\|", -1)[column].replaceAll("\\(.*\\)", "");
      var found = NAME.matcher(cell);
      while (found.find()) names.add(found.group(1));
    }
    return names;
  }
}
