package dev.kvasir.cli.serve;

import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.WARNING;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.settings.LogFormat;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ServeLogTest {
  private final StringWriter written = new StringWriter();
  private final PrintWriter err = new PrintWriter(written);

  @Test
  void textIsForPeople() {
    try (var log = new ServeLog(err, LogFormat.TEXT)) {
      log.log("stopped.");
    }
    assertThat(written.toString().lines()).containsExactly("kvasir: stopped.");
  }

  @Test
  void asJsonEveryLineIsAnObjectWithTimeLevelAndEvent() {
    var logger = System.getLogger("dev.kvasir.test");
    try (var log = new ServeLog(err, LogFormat.JSON)) {
      log.log("workers were read \"again\"");
      log.warn("anybody may ask");
      logger.log(WARNING, "disk slot {0} is quarantined: {1}", 7, "a\nbad\tday");
      logger.log(ERROR, "a step failed", new IllegalStateException("on purpose"));
    }
    var lines = written.toString().lines().map(line -> JsonMapper.shared().readTree(line)).toList();
    assertThat(lines).hasSize(4).allSatisfy(line -> Instant.parse(text(line, "time")));
    assertThat(lines.stream().map(line -> text(line, "level")))
        .containsExactly("INFO", "WARNING", "WARNING", "ERROR");
    assertThat(text(lines.get(0), "event")).isEqualTo("workers were read \"again\"");
    assertThat(text(lines.get(2), "event")).isEqualTo("disk slot 7 is quarantined: a\nbad\tday");
    assertThat(text(lines.get(2), "source")).isEqualTo("dev.kvasir.test");
    assertThat(lines.get(2).get("fields").toString()).isEqualTo("[\"7\",\"a\\nbad\\tday\"]");
    assertThat(text(lines.get(3), "error")).contains("on purpose", "ServeLogTest");
  }

  @Test
  void aThreadThatEndsUnexpectedlyIsALineOfJsonToo() throws InterruptedException {
    try (var _ = new ServeLog(err, LogFormat.JSON)) {
      Thread.ofPlatform()
          .name("a-thread")
          .start(
              () -> {
                throw new IllegalStateException("on purpose");
              })
          .join();
    }
    var line = JsonMapper.shared().readTree(written.toString().strip());
    assertThat(text(line, "level")).isEqualTo("ERROR");
    assertThat(text(line, "event")).contains("a-thread ended", "on purpose");
    assertThat(text(line, "error")).contains("ServeLogTest");
    assertThat(Thread.getDefaultUncaughtExceptionHandler()).isNull();
  }

  @Test
  void itLeavesTheLogAsItWas() {
    var root = Logger.getLogger("");
    var before = List.of(root.getHandlers());
    try (var _ = new ServeLog(err, LogFormat.JSON)) {
      assertThat(root.getHandlers()).hasSize(1).doesNotContainAnyElementsOf(before);
    }
    assertThat(root.getHandlers()).containsExactlyElementsOf(before);
  }

  private static String text(JsonNode line, String field) {
    return line.get(field).asString();
  }
}
