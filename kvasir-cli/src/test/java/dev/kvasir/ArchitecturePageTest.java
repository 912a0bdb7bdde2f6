package dev.kvasir;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Holds the table of docs/architecture.md: each module of the build and each package has one row.
 *
 * <p>The test prints the rows that are missing, each with the first sentence of the package's
 * {@code package-info.java}. The text of a row is free: only its names are checked. With an empty
 * table all rows are printed.
 */
class ArchitecturePageTest {
  private static final String PAGE = "docs/architecture.md";
  private static final String HEADING = "## Modules and packages";
  private static final Pattern ROW = Pattern.compile("\\| (\\S+) \\| (?:`(\\S+)`)? ?\\| .+ \\|");
  private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");
  private static final Pattern SOURCE =
      Pattern.compile("(.+)/src/main/java\\d*/dev/kvasir(?:/(.+))?/(?!package-info)\\w+\\.java");
  private static final Pattern COMMENT = Pattern.compile("(?s)/\\*\\*(.*?)\\*/");
  private static final Checkout CHECKOUT = Checkout.here();

  @Test
  void everyModuleAndPackageHasOneRow() {
    var rows = new ArrayList<String>();
    for (var line : section()) {
      var row = ROW.matcher(line);
      if (row.matches()) rows.add(row.group(1) + " " + (row.group(2) == null ? "" : row.group(2)));
    }
    assertThat(rows).as("%s in %s", HEADING, PAGE).doesNotHaveDuplicates();
    var wanted = wanted();
    var missing = new ArrayList<String>();
    wanted.forEach((name, row) -> missing.addAll(rows.contains(name) ? List.of() : List.of(row)));
    var unknown = new ArrayList<>(rows);
    unknown.removeAll(wanted.keySet());
    assertThat(missing.size() + unknown.size())
        .as(
            "%s in %s lacks these rows:\n%s\nand has these that name nothing: %s",
            HEADING, PAGE, String.join("\n", missing), unknown)
        .isZero();
  }

  private static List<String> section() {
    var lines = CHECKOUT.text(PAGE).orElseThrow().lines().toList();
    int from = lines.indexOf(HEADING) + 1;
    assertThat(from).as("%s has the heading %s", PAGE, HEADING).isPositive();
    return lines.stream().skip(from).takeWhile(line -> !line.startsWith("## ")).toList();
  }

  /** Returns the rows that the table must have, by module and package. */
  private static TreeMap<String, String> wanted() {
    var packages = new TreeMap<String, TreeSet<String>>();
    var modules = MODULE.matcher(CHECKOUT.text("pom.xml").orElseThrow());
    while (modules.find()) packages.put(modules.group(1), new TreeSet<>());
    var infos = new TreeMap<String, String>();
    for (var file : CHECKOUT.tracked()) {
      var source = SOURCE.matcher(file);
      if (!source.matches() || !packages.containsKey(source.group(1))) continue;
      var name = source.group(2) == null ? "dev.kvasir" : source.group(2).replace('/', '.');
      packages.get(source.group(1)).add(name);
      infos.put(name, file.substring(0, file.lastIndexOf('/')) + "/package-info.java");
    }
    var rows = new TreeMap<String, String>();
    packages.forEach(
        (module, names) -> {
          if (names.isEmpty()) rows.put(module + " ", "| %s | | … |".formatted(module));
          for (var name : names) {
            var idea = firstSentence(infos.getOrDefault(name, ""));
            rows.put(module + " " + name, "| %s | `%s` | %s |".formatted(module, name, idea));
          }
        });
    return rows;
  }

  private static String firstSentence(String info) {
    if (!Files.isRegularFile(CHECKOUT.root().resolve(info))) return "…";
    var comment = COMMENT.matcher(CHECKOUT.text(info).orElseThrow());
    if (!comment.find()) return "…";
    return comment
        .group(1)
        .replaceAll("\\s*\\n \\*", " ")
        .replaceAll("\\{@link\\s+(?:\\w+\\.)*(\\w+)(?:#(\\w+))?[^}]*}", "`$1`")
        .replaceAll("\\{@code\\s+([^}]*)}", "`$1`")
        .replaceAll("\\s+", " ")
        .strip()
        .replaceFirst("(?: <p|[.:](?: |$)(?=<|$|[A-Z`])).*", "");
  }
}
