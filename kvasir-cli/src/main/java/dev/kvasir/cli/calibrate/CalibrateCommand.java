package dev.kvasir.cli.calibrate;

import dev.kvasir.Nullable;
import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.cli.process.OutputFile;
import dev.kvasir.cli.process.UserErrors;
import dev.kvasir.net.Network;
import dev.kvasir.net.PrivateFiles;
import dev.kvasir.sim.calibrate.Calibration;
import dev.kvasir.sim.calibrate.CalibrationTable;
import dev.kvasir.sim.calibrate.CrossCheck;
import dev.kvasir.sim.calibrate.CrossTable;
import dev.kvasir.sim.calibrate.Limits;
import dev.kvasir.sim.calibrate.ProfileJson;
import dev.kvasir.sim.clock.ParallelTasks;
import dev.kvasir.sim.latency.Hardware;
import dev.kvasir.sim.latency.HardwareTable;
import dev.kvasir.sim.latency.ModelConfigFile;
import dev.kvasir.sim.latency.ModelSizes;
import dev.kvasir.sim.page.CalibrationPage;
import dev.kvasir.sim.trace.Capture;
import dev.kvasir.sim.trace.CaptureReader;
import dev.kvasir.sim.trace.TraceInput;
import dev.kvasir.spec.Durations;
import dev.kvasir.tools.doctor.ReportedKvMemory;
import dev.kvasir.tools.load.LoadCheck;
import dev.kvasir.tools.load.OpenAiTarget;
import dev.kvasir.tools.load.OpenAiTarget.Style;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.zip.GZIPInputStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Fits a latency profile to captures. */
@Command(
    name = "calibrate",
    customSynopsis =
        "kvasir calibrate (CAPTURE... | --url URL) (--out FILE | --leave-out N | --predict CAPTURE)"
            + " [OPTIONS]",
    description = "Fit a latency profile of a deployment to captures of its traffic.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  kvasir calibrate monday.jsonl.gz --model-config config.json --out profile.json",
      "  kvasir calibrate --url http://gpu0:8000 --budget 120s --out profile.json",
      "  kvasir calibrate monday.jsonl.gz tuesday.jsonl.gz wednesday.jsonl.gz --leave-out 1",
      "  kvasir simulate --profile profile.json --trace traffic.jsonl --instances 3"
    })
public final class CalibrateCommand implements Callable<Integer> {
  private static final ParallelTasks ALL_CORES =
      tasks -> tasks.parallelStream().forEach(Runnable::run);
  private static final int GZIP_FIRST = 0x1f;
  private static final int GZIP_SECOND = 0x8b;
  private static final int BUFFER = 1 << 16;

  private static final Duration CHECK_PATIENCE = Duration.ofSeconds(15);
  private static final String KEY_VARIABLE = "KVASIR_API_KEY";

  private final PrintWriter out;
  private final PrintWriter err;
  private final Map<String, String> environment;

  @Parameters(
      paramLabel = "CAPTURE",
      arity = "0..*",
      description = "Captures of 'kvasir serve --capture', plain or gzip.")
  private List<Path> captures = new ArrayList<>();

  @Option(names = "--out", paramLabel = "FILE", description = "Where the profile goes.")
  private @Nullable Path file;

  @Option(
      names = "--leave-out",
      paramLabel = "N",
      description =
          "Instead of a profile: predict each capture with profiles of the others, for all ways to"
              + " leave N out.")
  private int leftOut;

  @Option(
      names = "--predict",
      paramLabel = "CAPTURE",
      description = "Instead of a profile: predict this capture with a profile of the others.")
  private List<Path> predicted = new ArrayList<>();

  @Option(
      names = "--url",
      paramLabel = "URL",
      description = "Without captures: load this OpenAI-compatible server, and fit to the result.")
  private @Nullable URI url;

  @Option(
      names = "--budget",
      paramLabel = "TIME",
      description =
          "With --url: how long to load it, in seconds or with a unit (default: ${DEFAULT-VALUE}).")
  private String budget = "120s";

  @Option(
      names = "--prompt-tokens-max",
      paramLabel = "N",
      description =
          "With --url: words of the longest prompts, or fewer where the context is short"
              + " (default: ${DEFAULT-VALUE}).")
  private int promptTokensMax = 4096;

  @Option(
      names = "--captures",
      paramLabel = "FOLDER",
      description = "With --url: folder to keep the captures in (default: none are kept).")
  private @Nullable Path folder;

  @Option(
      names = "--model-config",
      paramLabel = "FILE",
      description = "The model's config.json (default: Llama 3.1 8B).")
  private @Nullable Path modelConfig;

  @Option(
      names = "--hardware",
      paramLabel = "GPU",
      description = "The GPU (default: the known GPU that fits the captures best).")
  private @Nullable String gpu;

  @Option(
      names = "--hardware-config",
      paramLabel = "FILE",
      description = "Figures of GPUs, in JSON (default: those that are known).")
  private @Nullable Path table;

  @Option(
      names = "--tp",
      paramLabel = "N",
      description = "GPUs that share every layer (default: ${DEFAULT-VALUE}).")
  private int split = 1;

  @Option(
      names = "--max-num-seqs",
      paramLabel = "N",
      description = "Most requests in a batch (default: what a capture says, or 256).")
  private int sequencesMax = Limits.USUAL.sequencesMax();

  @Option(
      names = "--max-num-batched-tokens",
      paramLabel = "N",
      description = "Most tokens in a step (default: what a capture says, or 8192).")
  private int stepTokensMax = Limits.USUAL.stepTokensMax();

  @Option(
      names = "--total-kv-blocks",
      paramLabel = "N",
      description = "KV blocks of the engine (default: what a capture says or its requests show).")
  private int blocks = Limits.USUAL.blocks();

  @Option(
      names = "--block-size",
      paramLabel = "N",
      description = "Tokens of a block (default: ${DEFAULT-VALUE}).")
  private int blockTokens = Limits.USUAL.blockTokens();

  @Option(
      names = "--calls",
      paramLabel = "N",
      description =
          "Calls to the server per request (default: 2, since the router first asks for the tokens"
              + " of the prompt; 1 with --url, or if captures show that prompts were hashed by"
              + " bytes).")
  private int calls;

  @Option(
      names = "--engine",
      paramLabel = "NAME",
      description = "Engine and version, noted in the profile.")
  private String engine = "";

  @Option(
      names = "--model",
      paramLabel = "NAME",
      description = "Name of the model, noted in the profile.")
  private String model = "";

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "Name of the profile (default: the name of its file).")
  private String name = "";

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of all random numbers (default: ${DEFAULT-VALUE}).")
  private long seed = 42;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description = "Write an HTML page that compares predicted and measured times.")
  private @Nullable Path report;

  public CalibrateCommand(PrintWriter out, PrintWriter err, Map<String, String> environment) {
    this.out = out;
    this.err = err;
    this.environment = environment;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    return UserErrors.caught(err, "calibrate", this::run);
  }

  private int run() throws IOException, InterruptedException {
    OutputFile.require(file, report);
    if (captures.isEmpty() == (url == null)) {
      throw new IllegalArgumentException("give captures, or --url for a server to load");
    }
    boolean isChecked = leftOut > 0 || !predicted.isEmpty();
    if (isChecked == (file != null) || (isChecked && url != null)) {
      throw new IllegalArgumentException(
          "give --out for a profile, or captures with --leave-out or --predict to judge profiles");
    }
    if (url == null) return calibrate();
    var kept = folder;
    var made =
        kept == null ? Files.createTempDirectory("kvasir-probes") : PrivateFiles.folder(kept);
    try {
      return probe(url, made);
    } finally {
      if (kept == null) {
        for (var capture : captures) Files.deleteIfExists(capture);
        Files.deleteIfExists(made);
      }
    }
  }

  private int probe(URI server, Path into) throws IOException, InterruptedException {
    var time = time(budget);
    try (var network = Network.open()) {
      var key = environment.get(KEY_VARIABLE);
      var target =
          new OpenAiTarget(server, Style.COMPLETIONS, model, key, OpenAiTarget.Lengths.FORCED);
      switch (LoadCheck.of(network, target, CHECK_PATIENCE)) {
        case LoadCheck.Unusable(var message) -> {
          err.println("kvasir: " + message);
          return ExitCode.UNAVAILABLE;
        }
        case LoadCheck.Ready(var name, int context) -> {
          target = target.withModel(name);
          promptTokensMax = Probes.fitting(promptTokensMax, context);
        }
      }
      err.println("kvasir: prompts of at most " + promptTokensMax + " words");
      var memory = ReportedKvMemory.ofAll(List.of(server.toString()), key);
      captures = new Probes(network, target, time, promptTokensMax, seed, memory, err).run(into);
    }
    return calibrate();
  }

  private static Duration time(String written) {
    var time = Durations.parse(written.matches("[\\d.]+") ? written + "s" : written);
    if (time != null) return time;
    throw new IllegalArgumentException("--budget " + written + "; write a time, as in 120s");
  }

  private int calibrate() throws IOException {
    var inputs = read(captures);
    var written = file;
    if (written == null) return check(inputs);
    var result = new Calibration(request(inputs), ALL_CORES).of(inputs);
    Files.writeString(written, ProfileJson.write(result.profile()));
    if (report != null) Files.writeString(report, CalibrationPage.of(result));
    for (var note : result.notes()) err.println("kvasir: " + note);
    err.flush();
    out.print(CalibrationTable.of(result));
    out.println("profile     " + written);
    out.flush();
    return ExitCode.OK;
  }

  private int check(List<Calibration.Input> inputs) throws IOException {
    var check = new CrossCheck(request(inputs), ALL_CORES);
    if (leftOut > 0) {
      out.println(CrossTable.of(check.leavingOut(inputs, leftOut)));
      out.println(CrossTable.of(check.priorAlone(inputs)));
    }
    if (!predicted.isEmpty()) {
      out.println(CrossTable.of(check.predict(inputs, read(predicted))));
    }
    out.flush();
    return ExitCode.OK;
  }

  private static List<Calibration.Input> read(List<Path> paths) throws IOException {
    var inputs = new ArrayList<Calibration.Input>();
    for (var path : paths) inputs.add(read(path));
    return inputs;
  }

  private Calibration.Setup request(List<Calibration.Input> inputs) throws IOException {
    var written = file;
    var modelName = name.isEmpty() && written != null ? bare(written) : name;
    return new Calibration.Setup(
        modelName,
        engine,
        model,
        shape(),
        gpus(),
        split,
        calls > 0 ? calls : url == null ? calls(inputs) : 1,
        new Limits(sequencesMax, stepTokensMax, blocks, blockTokens),
        seed);
  }

  /** As often as the captures show it, if they agree; else what most servers are called. */
  private static int calls(List<Calibration.Input> inputs) {
    var shown = inputs.stream().map(input -> input.capture().calls()).distinct().toList();
    return shown.size() == 1 ? shown.getFirst() : Capture.CALLS_USUAL;
  }

  private static String bare(Path path) {
    return String.valueOf(path.getFileName()).replaceFirst("\\.json$", "");
  }

  private ModelSizes shape() throws IOException {
    var named = modelConfig;
    if (named == null) return ModelSizes.LLAMA_8B;
    try (var config = Files.newBufferedReader(named)) {
      return ModelConfigFile.read(config, named.toString());
    }
  }

  private List<Hardware> gpus() throws IOException {
    var known = known();
    var named = gpu;
    return named == null ? known.all() : List.of(known.find(named));
  }

  private HardwareTable known() throws IOException {
    var named = table;
    if (named == null) return HardwareTable.known();
    try (var figures = Files.newBufferedReader(named)) {
      return HardwareTable.read(figures, named.toString());
    }
  }

  private static Calibration.Input read(Path path) throws IOException {
    var digest = sha256();
    try (var bytes = new DigestInputStream(unpacked(path), digest)) {
      var capture = CaptureReader.of(new TraceInput(path.toString(), bytes)).readAll();
      bytes.transferTo(OutputStream.nullOutputStream());
      var name = String.valueOf(path.getFileName());
      return new Calibration.Input(name, HexFormat.of().formatHex(digest.digest()), capture);
    }
  }

  private static InputStream unpacked(Path path) throws IOException {
    var bytes = new BufferedInputStream(Files.newInputStream(path), BUFFER);
    bytes.mark(2);
    boolean isPacked = bytes.read() == GZIP_FIRST && bytes.read() == GZIP_SECOND;
    bytes.reset();
    return isPacked ? new GZIPInputStream(bytes, BUFFER) : bytes;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
