package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.cli.settings.LogFormat;
import dev.kvasir.net.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** The log while serving: messages of the command, and of its parts. */
final class ServeLog implements AutoCloseable {
  private static final Logger ROOT = Logger.getLogger("");

  private final PrintWriter err;
  private final LogFormat format;
  private final JsonLines lines = new JsonLines();
  private final List<Handler> before = List.of(ROOT.getHandlers());
  private final Thread.@Nullable UncaughtExceptionHandler uncaught =
      Thread.getDefaultUncaughtExceptionHandler();

  /** Takes over what the parts log from now on, where it is not to be text. */
  ServeLog(PrintWriter err, LogFormat format) {
    this.err = err;
    this.format = format;
    if (format == LogFormat.TEXT) return;
    before.forEach(ROOT::removeHandler);
    ROOT.addHandler(lines);
    Thread.setDefaultUncaughtExceptionHandler(this::ended);
  }

  /** A thread ended by a failure that nobody expected. */
  private void ended(Thread thread, Throwable failure) {
    var event = new LogRecord(Level.SEVERE, thread.getName() + " ended: " + failure);
    event.setThrown(failure);
    lines.publish(event);
  }

  /** Logs an event of the command at level INFO. */
  void log(String event) {
    log(Level.INFO, event);
  }

  /** Logs a message that needs action. */
  void warn(String event) {
    log(Level.WARNING, event);
  }

  private void log(Level level, String event) {
    switch (format) {
      case TEXT -> write("kvasir: " + event);
      case JSON -> lines.publish(new LogRecord(level, event));
    }
  }

  private void write(String line) {
    err.println(line);
    err.flush();
  }

  /** Writes what is logged as objects of JSON. */
  private final class JsonLines extends Handler {
    private final SimpleFormatter text = new SimpleFormatter();

    @Override
    public void publish(LogRecord event) {
      var level = event.getLevel().equals(Level.SEVERE) ? "ERROR" : event.getLevel().getName();
      var line = Json.object().put("time", event.getInstant().toString()).put("level", level);
      line.put("event", text.formatMessage(event));
      if (event.getLoggerName() != null) line.put("source", event.getLoggerName());
      if (event.getParameters() != null && event.getParameters().length > 0) {
        var fields = line.putArray("fields");
        for (var field : event.getParameters()) fields.add(String.valueOf(field));
      }
      if (event.getThrown() != null) line.put("error", trace(event.getThrown()));
      write(line.toString());
    }

    private static String trace(Throwable failure) {
      var trace = new StringWriter();
      failure.printStackTrace(new PrintWriter(trace));
      return trace.toString();
    }

    @Override
    public void flush() {
      err.flush();
    }

    @Override
    public void close() {
      flush();
    }
  }

  /** Leaves the log as it was found. */
  @Override
  public void close() {
    if (format == LogFormat.TEXT) return;
    Thread.setDefaultUncaughtExceptionHandler(uncaught);
    ROOT.removeHandler(lines);
    before.forEach(ROOT::addHandler);
  }
}
