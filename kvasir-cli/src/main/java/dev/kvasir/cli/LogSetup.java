package dev.kvasir.cli;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.logging.LogManager;

/** Sets up what is logged, when something is logged for the first time. */
public final class LogSetup {
  private static final String CLASS = "java.util.logging.config.class";
  private static final String FILE = "java.util.logging.config.file";
  private static final String SETTINGS =
      """
      handlers=java.util.logging.ConsoleHandler
      .level=INFO
      java.util.logging.ConsoleHandler.level=INFO
      java.util.logging.ConsoleHandler.formatter=\
      """;

  /** Called by the log itself. */
  public LogSetup() throws IOException {
    var text = SETTINGS + LineFormatter.class.getName() + "\n";
    var settings = new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1));
    LogManager.getLogManager().readConfiguration(settings);
  }

  /** Has the log set up in this way, unless the operator said otherwise. */
  static void install() {
    if (System.getProperty(CLASS) == null && System.getProperty(FILE) == null) {
      System.setProperty(CLASS, LogSetup.class.getName());
    }
  }
}
