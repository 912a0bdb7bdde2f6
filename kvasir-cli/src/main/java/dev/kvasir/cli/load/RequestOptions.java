package dev.kvasir.cli.load;

import dev.kvasir.Nullable;
import dev.kvasir.sim.trace.Trace;
import dev.kvasir.sim.trace.TraceFormat;
import dev.kvasir.sim.trace.TraceInput;
import dev.kvasir.sim.trace.TraceOptions;
import dev.kvasir.tools.load.LoadRequest;
import dev.kvasir.tools.load.Pacing;
import dev.kvasir.tools.load.RandomLoad;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Options that select the requests to send and their times. */
@Command(optionListHeading = "%nRequests:%n")
final class RequestOptions {
  /** The names of all formats, for help. */
  static final class Formats implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return TraceFormat.titles().iterator();
    }
  }

  private static final long REQUESTS_USUAL = 100;
  private static final int WARMUP_TOKENS = 8;

  @Option(
      names = "--rate",
      paramLabel = "R",
      description = "Requests a second, at random times (Poisson).")
  private @Nullable Double rate;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = "The requests of a recorded trace, plain or gzip, at their times.")
  private @Nullable Path trace;

  @Option(
      names = "--concurrency",
      paramLabel = "N",
      description = "Callers; each sends its next request after its answer. Also with --trace.")
  private @Nullable Integer concurrency;

  @Option(
      names = "--requests",
      paramLabel = "N",
      description = "Most requests to send (default: 100, or the whole trace).")
  private @Nullable Long requests;

  @Option(
      names = "--duration",
      paramLabel = "S",
      description = "Stop sending after this many seconds, then wait for the answers.")
  private double durationSeconds = Duration.ofDays(365).toSeconds();

  @Option(
      names = "--prompt-tokens",
      paramLabel = "N",
      description = "Words of a prompt, without a trace (default: ${DEFAULT-VALUE}).")
  private int promptTokens = 256;

  @Option(
      names = "--prefix-tokens",
      paramLabel = "N",
      description = "Words at the beginning that all prompts share (default: ${DEFAULT-VALUE}).")
  private int prefixTokens;

  @Option(
      names = "--output-tokens",
      paramLabel = "N",
      description = "Tokens of an answer, without a trace (default: ${DEFAULT-VALUE}).")
  private int outputTokens = 64;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of words and arrival times (default: ${DEFAULT-VALUE}).")
  private long seed = 42;

  @Option(
      names = "--trace-format",
      paramLabel = "NAME",
      completionCandidates = Formats.class,
      description = "Format of the trace: ${COMPLETION-CANDIDATES} (default: recognised).")
  private @Nullable String format;

  @Option(
      names = "--time-scale",
      paramLabel = "X",
      description = "Stretches the time between a trace's requests; 0.5 doubles the load.")
  private double timeScale = 1;

  @Option(
      names = "--warmup",
      paramLabel = "N",
      description =
          "Short requests to send first; they are not counted (default: ${DEFAULT-VALUE}).")
  private int warmups = 3;

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      description =
          "Most requests in flight; later ones wait in the client (default: ${DEFAULT-VALUE}).")
  private int inFlightMax = 1_000;

  Pacing pacing() {
    if (rate != null && concurrency != null) {
      throw new IllegalArgumentException("--rate and --concurrency exclude each other");
    }
    if (rate != null && trace != null) {
      throw new IllegalArgumentException(
          "--rate is not for traces, which have their own; use --time-scale");
    }
    if (rate == null && trace == null && concurrency == null) {
      throw new IllegalArgumentException(
          "choose how to send requests: --rate R, --trace FILE or --concurrency N");
    }
    return concurrency == null ? new Pacing.Open(inFlightMax) : new Pacing.Closed(concurrency);
  }

  Duration duration() {
    if (!(durationSeconds > 0)) throw new IllegalArgumentException("--duration " + durationSeconds);
    return Duration.ofNanos((long) (durationSeconds * 1e9));
  }

  /** A few words each, which no other request has. */
  Iterator<LoadRequest> warmups() {
    if (warmups < 0) throw new IllegalArgumentException("--warmup " + warmups);
    var shape = new RandomLoad.Shape(Double.POSITIVE_INFINITY, WARMUP_TOKENS, 0, WARMUP_TOKENS);
    return new RandomLoad(shape, warmups, ~seed);
  }

  /** The requests; what was opened for them is added to the list, to be closed. */
  Iterator<LoadRequest> open(List<InputStream> opened) throws IOException {
    if (trace != null) return new TraceLoad(read(trace, opened));
    double perSecond = rate == null ? Double.POSITIVE_INFINITY : rate;
    var shape = new RandomLoad.Shape(perSecond, promptTokens, prefixTokens, outputTokens);
    return new RandomLoad(shape, requests == null ? usual() : requests, seed);
  }

  /**
   * Returns the usual number of requests: no limit if a duration is given, so that requests are
   * sent all that time.
   */
  private long usual() {
    return durationSeconds < Duration.ofDays(365).toSeconds() ? Long.MAX_VALUE : REQUESTS_USUAL;
  }

  private Trace read(Path file, List<InputStream> opened) throws IOException {
    var options = TraceOptions.USUAL.limited(requests == null ? Long.MAX_VALUE : requests);
    options = options.scaled(timeScale);
    if (format != null) options = options.as(TraceFormat.titled(format));
    var stream = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
    opened.add(stream);
    return Trace.read(new TraceInput(file.toString(), stream), options);
  }
}
