package dev.kvasir.cli;

import static java.lang.System.Logger.Level.WARNING;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Tests that every line of the log is one that Kvasir wrote, whatever names clients give
 * themselves.
 */
class LineFormatterTest {
  private static final String FORGED =
      "vllm\r\nNov 19, 2026 TierDaemon\nSEVERE: all is lost\u001b[2J";

  /** As a command logs, in a process of its own. */
  static final class Logs {
    public static void main(String[] arguments) {
      LogSetup.install();
      var log = System.getLogger("dev.kvasir.test");
      log.log(WARNING, "client {0} uses {1}", FORGED, "a\u2028b");
      log.log(WARNING, "a step failed", new IllegalStateException(FORGED));
    }
  }

  @Test
  void aNameThatSomebodyChoseBeginsNoLine() throws Exception {
    var process =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                System.getProperty("java.class.path"),
                Logs.class.getName())
            .redirectErrorStream(true)
            .start();
    var lines = new String(process.getInputStream().readAllBytes(), UTF_8).lines().toList();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(lines.get(1))
        .isEqualTo(
            "WARNING: client vllm\\r\\nNov 19, 2026 TierDaemon\\nSEVERE: all is lost\\u001b[2J"
                + " uses a\\u2028b");
    assertThat(lines)
        .noneMatch(line -> line.startsWith("SEVERE"))
        .noneMatch(LineFormatterTest::steers);
    assertThat(lines.get(3)).isEqualTo("WARNING: a step failed");
    assertThat(lines.subList(4, lines.size()))
        .hasSizeGreaterThan(1)
        .allMatch(line -> line.startsWith("\t"))
        .anyMatch(line -> line.contains("at dev.kvasir.cli.LineFormatterTest"));
  }

  private static boolean steers(String line) {
    return line.chars().anyMatch(each -> each < ' ' && each != '\t');
  }

  @Test
  void wordsOfAllLanguagesStayAsTheyAre() {
    for (var text : List.of("größer als 1 µs", "日本語", "naïve: \ud83d\ude00")) {
      assertThat(LineFormatter.visible(text)).isEqualTo(text);
    }
  }
}
