package dev.kvasir.cli.serve;

import dev.kvasir.cli.config.GivenOptions;
import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.cli.process.UserErrors;
import dev.kvasir.cli.settings.Configuration;
import dev.kvasir.cli.tier.TierCommand;
import dev.kvasir.tools.doctor.CacheFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Checks a configuration, and describes what would run with it. */
@Command(
    name = "check-config",
    description = "Check the settings of 'kvasir serve', and describe what would run.",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = "  kvasir check-config kvasir.yaml")
public final class CheckConfigCommand implements Callable<Integer> {
  private final PrintWriter out;
  private final PrintWriter err;
  private final Map<String, String> environment;

  @Parameters(
      paramLabel = "FILE",
      arity = "0..1",
      description = "Settings in YAML, as for 'serve --config' (default: ${DEFAULT-VALUE}).")
  private Path file = Path.of("kvasir.yaml");

  public CheckConfigCommand(PrintWriter out, PrintWriter err, Map<String, String> environment) {
    this.out = out;
    this.err = err;
    this.environment = environment;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    return UserErrors.caught(err, "check-config", this::check);
  }

  private int check() throws IOException {
    var settings = new Configuration(file, environment, GivenOptions.NOTHING.keys()).read();
    settings.requireServable();
    var folder = CacheFolder.usual(environment, Path.of(System.getProperty("user.home")));
    var caches = settings.folder(folder);
    var tierConfig = settings.tierConfig();
    if (tierConfig != null) {
      var _ = TierCommand.read(tierConfig, caches);
    }
    new SettingsText(settings, caches).lines().forEach(out::println);
    out.flush();
    return ExitCode.OK;
  }
}
