package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.cli.process.OutputFile;
import dev.kvasir.cli.process.UserErrors;
import dev.kvasir.sim.cache.CacheStudy;
import dev.kvasir.sim.page.CachePage;
import dev.kvasir.sim.page.RunDescription;
import dev.kvasir.sim.trace.Trace;
import dev.kvasir.sim.trace.TraceInput;
import dev.kvasir.sim.trace.TraceOptions;
import dev.kvasir.sim.workload.Request;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Shows what caches can find in a trace. */
@Command(
    name = "explain",
    description =
        "Show what caches can find in a trace, and what more memory or another policy would"
            + " gain.",
    optionListHeading = "%nOptions:%n",
    footer = {
      "",
      "Example:",
      "  kvasir explain cache conversation_trace.jsonl --block-size 512 --report out.html"
    })
public final class ExplainCommand implements Callable<Integer> {
  private static final String SUBJECT = "cache";
  private static final int BLOCK_TOKENS_USUAL = 512;
  private static final int HEAD_BYTES = 1 << 20;
  private static final Pattern BLOCK_TOKENS =
      Pattern.compile("\"block_tokens\"\\s*:\\s*([1-9]\\d{0,6})\\b");

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private final PrintWriter out;
  private final PrintWriter err;

  @Parameters(
      arity = "1..2",
      paramLabel = "[cache] TRACE",
      hideParamSyntax = true,
      description = "A recorded trace, plain or gzip; 'cache' before it is the usual subject.")
  private List<String> words = new ArrayList<>();

  @Option(
      names = "--block-size",
      paramLabel = "N",
      description = "Tokens of a block (default: those of the trace's own, else 512).")
  private @Nullable Integer blockTokens;

  @Option(
      names = "--sizes",
      paramLabel = "N,…",
      split = ",",
      description = "Sizes of the cache in blocks (default: 100, 200, 500 and so on).")
  private List<Integer> sizes = new ArrayList<>();

  @Option(names = "--json", description = "Write one JSON object, for programs.")
  private boolean json;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description = "Write a page with the curves: one HTML file that opens offline.")
  private @Nullable Path report;

  public ExplainCommand(PrintWriter out, PrintWriter err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (words.size() > 1 && !words.getFirst().equals(SUBJECT)) {
      err.println(
          "kvasir: nothing to explain about \""
              + words.getFirst()
              + "\"; use: explain cache TRACE");
      return ExitCode.USAGE;
    }
    if (words.equals(List.of(SUBJECT)) && !Files.exists(Path.of(SUBJECT))) {
      err.println("kvasir: no trace is named; use: explain cache TRACE");
      return ExitCode.USAGE;
    }
    var file = Path.of(words.getLast());
    if ((blockTokens != null && blockTokens < 1) || sizes.stream().anyMatch(size -> size < 1)) {
      err.println("kvasir: --block-size " + blockTokens + " and --sizes must be at least 1");
      return ExitCode.USAGE;
    }
    return UserErrors.caught(err, "explain", () -> explain(file));
  }

  private int explain(Path file) throws IOException {
    OutputFile.require(report);
    int tokens = blockTokens == null ? ownBlockTokens(file) : blockTokens;
    var study = CacheStudy.of(read(file), tokens, sizes);
    if (json) out.println(JSON.writeValueAsString(study));
    else write(study);
    out.flush();
    if (report != null) Files.writeString(report, CachePage.of(study, description(file, tokens)));
    return ExitCode.OK;
  }

  private static List<Request> read(Path file) throws IOException {
    try (var stream = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
      var options = TraceOptions.USUAL.withWholeTails();
      var requests = new ArrayList<Request>();
      Trace.read(new TraceInput(file.toString(), stream), options).forEachRemaining(requests::add);
      return requests;
    }
  }

  /** Returns the length of the trace's blocks, if it is named near its beginning. */
  private static int ownBlockTokens(Path file) throws IOException {
    try (var stream = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
      stream.mark(2);
      boolean isGzip = stream.read() == 0x1f && stream.read() == 0x8b;
      stream.reset();
      var text = isGzip ? new GZIPInputStream(stream) : stream;
      var head = new String(text.readNBytes(HEAD_BYTES), StandardCharsets.UTF_8);
      var matcher = BLOCK_TOKENS.matcher(head);
      return matcher.find() ? Integer.parseInt(matcher.group(1)) : BLOCK_TOKENS_USUAL;
    }
  }

  private static RunDescription description(Path file, int blockTokens) {
    var command = "kvasir explain cache " + file.getFileName() + " --block-size " + blockTokens;
    return new RunDescription(command, List.of());
  }

  private void write(CacheStudy study) {
    out.printf(
        Locale.ROOT,
        "%,d block references to %,d blocks; %.1f %% of these are never used again%n",
        study.references(),
        study.distinct(),
        100 * study.neverReused());
    var gaps = study.gapSeconds();
    if (!gaps.isEmpty()) {
      out.printf(
          Locale.ROOT,
          "used again after %.1f s (p10), %.1f s (p50), %.1f s (p90)%n",
          gaps.get(0),
          gaps.get(1),
          gaps.get(2));
    }
    out.printf("%n%12s %10s %10s %10s%n", "blocks", "lru", "learned", "optimal");
    for (var size : study.sizes()) {
      out.printf(
          Locale.ROOT,
          "%,12d %8.2f %% %8.2f %% %8.2f %%%n",
          size.blocks(),
          100 * size.lru(),
          100 * size.learned(),
          100 * size.optimal());
    }
  }
}
