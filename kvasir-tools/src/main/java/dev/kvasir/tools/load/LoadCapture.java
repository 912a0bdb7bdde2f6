package dev.kvasir.tools.load;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.kvasir.net.PrivateFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Locale;
import java.util.Set;

/**
 * Writes the answered requests of a load as {@code kvasir serve --capture} would: lengths and
 * times, no text.
 */
public final class LoadCapture implements AutoCloseable {
  private static final long MICROS_PER_SECOND = 1_000_000;
  private static final long NANOS_PER_MICRO = 1_000;

  private final PrintWriter lines;
  private final Path file;
  private long beganMicros;
  private long beganNanos;
  private long count;

  private LoadCapture(Path file, Writer lines) {
    this.file = file;
    this.lines = new PrintWriter(lines);
  }

  /** Begins the file anew, for its owner alone. */
  public static LoadCapture to(Path file) throws IOException {
    var channel =
        Files.newByteChannel(
            file, Set.of(CREATE, WRITE, TRUNCATE_EXISTING), PrivateFiles.file(file));
    return new LoadCapture(file, Channels.newWriter(channel, StandardCharsets.UTF_8));
  }

  /** Writes the line that tells the deployment, before all requests. */
  public void head(String line) {
    lines.println(line);
  }

  /** A load begins now, at that time of its own clock. */
  void begin(Instant now, long nanos) {
    beganMicros = now.getEpochSecond() * MICROS_PER_SECOND + now.getNano() / NANOS_PER_MICRO;
    beganNanos = nanos;
  }

  /** A request that should have been sent at that time was answered. */
  void answered(long arrivalNanos, Answer.Complete answer) {
    var usage = answer.usage();
    lines.printf(
        Locale.ROOT,
        "{\"schema\":\"kvasir.capture.v1\",\"id\":\"%d\",\"arrival_us\":%d,\"prompt_tokens\":%d,"
            + "\"output_tokens\":%d,\"instance\":\"server\",\"ttft_us\":%d,\"e2e_us\":%d,"
            + "\"cached_tokens\":%d}%n",
        ++count,
        beganMicros + (arrivalNanos - beganNanos) / NANOS_PER_MICRO,
        usage.promptTokens(),
        usage.outputTokens(),
        (answer.firstNanos() - arrivalNanos) / NANOS_PER_MICRO,
        (answer.lastNanos() - arrivalNanos) / NANOS_PER_MICRO,
        usage.cachedTokens());
  }

  /** Throws an {@link UncheckedIOException} where something could not be written. */
  @Override
  public void close() {
    boolean isFailed = lines.checkError();
    lines.close();
    if (isFailed) {
      throw new UncheckedIOException(new IOException("not all of " + file + " could be written"));
    }
  }
}
