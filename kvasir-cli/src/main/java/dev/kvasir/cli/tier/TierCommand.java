package dev.kvasir.cli.tier;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.RecordReader;
import dev.kvasir.cli.config.YamlFile;
import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.cli.process.Interrupt;
import dev.kvasir.cli.process.UserErrors;
import dev.kvasir.net.HeapWatchdog;
import dev.kvasir.net.PrivateFiles;
import dev.kvasir.net.machine.Bytes;
import dev.kvasir.tierd.TierDaemon;
import dev.kvasir.tierd.settings.TierSettings;
import dev.kvasir.tools.doctor.CacheFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Keeps KV tiers for the engines of this machine. */
@Command(
    name = "tier",
    description = {
      "Keep KV tiers for the vLLM servers and Redis clients of this machine: host memory, disk,"
          + " Redis, S3.",
      "",
      "Bounded, checksummed, shared by all engines with the same model, and found again after a",
      "restart. vLLM needs the package kvasir-vllm and one option; see docs/tier.md."
    },
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  kvasir tier --host-bytes 64GiB --disk-bytes 1TiB --folder /nvme/kvasir",
      "  kvasir tier --config tier.yaml",
      "  kvasir tier ls --folder /nvme/kvasir"
    })
public final class TierCommand implements Callable<Integer> {
  private static final Duration STOP_MAX = Duration.ofMinutes(2);

  private final PrintWriter out;
  private final PrintWriter err;
  private final Map<String, String> environment;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "A YAML file with these and more settings; options override it.")
  private @Nullable Path config;

  @Option(names = "--verbose", description = "Also log connections and namespaces.")
  private boolean verbose;

  @Mixin private TierOptions options = new TierOptions();

  public TierCommand(PrintWriter out, PrintWriter err, Map<String, String> environment) {
    this.out = out;
    this.err = err;
    this.environment = environment;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Logger.getLogger("").setLevel(verbose ? Level.INFO : Level.WARNING);
    return UserErrors.caught(err, "tier", () -> serve(settings()));
  }

  private TierSettings settings() throws IOException {
    var usual = TierSettings.DEFAULT.in(usualFolder(environment));
    var given = options.given().keys();
    return RecordReader.read(config == null ? given : YamlFile.read(config).under(given), usual);
  }

  /**
   * Returns the settings of a file, with the usual ones where it has none.
   *
   * @param folder where the socket and what is on disk lie, unless the file says otherwise
   */
  public static TierSettings read(Path file, Path folder) throws IOException {
    return RecordReader.read(YamlFile.read(file), TierSettings.DEFAULT.in(folder));
  }

  /** Opens a daemon; its socket may lie in a folder that is not there yet. */
  public static TierDaemon open(TierSettings settings) throws IOException {
    TierRoom.require(settings);
    var above = settings.socket().toAbsolutePath().getParent();
    if (above != null) PrivateFiles.folder(above);
    return TierDaemon.open(settings);
  }

  static Path usualFolder(Map<String, String> environment) {
    return CacheFolder.usual(environment, Path.of(System.getProperty("user.home")));
  }

  private int serve(TierSettings settings) throws IOException, InterruptedException {
    for (var warning : TierRoom.warnings(settings)) err.println("kvasir: " + warning);
    var stopRequested = new CountDownLatch(1);
    try (var _ = Interrupt.of(stopRequested::countDown, STOP_MAX);
        var _ = HeapWatchdog.start(() -> Runtime.getRuntime().halt(HeapWatchdog.EXIT_CODE));
        var daemon = open(settings)) {
      printSummary(settings, daemon);
      stopRequested.await();
    }
    return ExitCode.OK;
  }

  private void printSummary(TierSettings settings, TierDaemon daemon) {
    out.println("Kvasir keeps KV tiers for the engines of this machine.");
    out.println();
    out.println("  socket   " + settings.socket().toAbsolutePath());
    out.println("  host     " + Bytes.text(settings.hostBytes()));
    if (settings.diskBytes() > 0) {
      out.println("  disk     " + Bytes.text(settings.diskBytes()) + " in " + settings.folder());
    }
    if (settings.remote() != null) {
      out.println("  redis    " + settings.remote().server().nodes());
    }
    if (settings.object() != null) out.println("  bucket   " + settings.object().server());
    out.println("  metrics  " + daemon.adminUrl() + "/metrics");
    out.println();
    out.println("Ctrl-C stops it; what is on disk is found again.");
    out.flush();
  }
}
