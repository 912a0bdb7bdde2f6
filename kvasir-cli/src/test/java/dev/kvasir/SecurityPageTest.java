package dev.kvasir;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that every promise of SECURITY.md is tested where the page says. */
class SecurityPageTest {
  private static final Path ROOT = Path.of(System.getProperty("kvasir.root", ".."));
  private static final Pattern NAMED = Pattern.compile("`([A-Z]\\w+Test)\\.(\\w+)`");

  @Test
  void everyTestThatThePageNamesIsThere() throws IOException {
    var tests = tests();
    var matcher = NAMED.matcher(Files.readString(ROOT.resolve("SECURITY.md")));
    int count = 0;
    for (; matcher.find(); count++) {
      assertThat(tests).containsKey(matcher.group(1));
      assertThat(tests.get(matcher.group(1))).contains("void " + matcher.group(2) + "(");
    }
    assertThat(count).isGreaterThan(25);
  }

  private static Map<String, String> tests() throws IOException {
    var tests = new HashMap<String, String>();
    for (var module :
        List.of(
            "core", "sim", "net", "events", "tiers", "tierd", "gateway", "engine", "tools",
            "cli")) {
      var folder = ROOT.resolve("kvasir-" + module + "/src/test/java");
      try (var files = Files.walk(folder)) {
        for (var file : files.filter(path -> path.toString().endsWith("Test.java")).toList()) {
          tests.put(name(file), Files.readString(file));
        }
      }
    }
    return tests;
  }

  private static String name(Path file) {
    return file.getFileName().toString().replace(".java", "");
  }
}
