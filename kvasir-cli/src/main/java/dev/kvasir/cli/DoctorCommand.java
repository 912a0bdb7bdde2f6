package dev.kvasir.cli;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.RecordReader;
import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.cli.process.UserErrors;
import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.gpu.doctor.GpuEngineProbe;
import dev.kvasir.gpu.doctor.GpuProbe;
import dev.kvasir.net.Secret;
import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import dev.kvasir.spec.Written;
import dev.kvasir.tools.doctor.CacheFolder;
import dev.kvasir.tools.doctor.Doctor;
import dev.kvasir.tools.doctor.WorkerProbe;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Option;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Checks this machine (JDK, cores, memory, cache folder, direct I/O, GPU), or workers. */
@Command(
    name = "doctor",
    description = "Check this machine, or workers, and print what Kvasir needs of them.",
    optionListHeading = "%nOptions:%n",
    footer = {
      "",
      "ok: as it should be; note: worth knowing; missing: needed, and not there (exit code 69)."
    })
final class DoctorCommand implements Callable<Integer> {
  private final PrintWriter out;
  private final PrintWriter err;
  private final Map<String, String> environment;

  @Option(
      names = "--cache-dir",
      paramLabel = "DIR",
      description = "Folder where the disk tier keeps its blocks (default: ~/.cache/kvasir).")
  private @Nullable Path cacheFolder;

  @Option(
      names = "--worker",
      paramLabel = "URL[,events=TCP]",
      description =
          "Check a vLLM or SGLang server instead of this machine, with a few short requests."
              + " Repeatable.")
  private List<String> workers = List.of();

  @Option(
      names = "--worker-key",
      paramLabel = "KEY",
      description = "Key to send to workers, as env:NAME or file:PATH.")
  private @Nullable String workerKey;

  @Option(names = "--json", description = "Write one JSON object, for programs.")
  private boolean json;

  DoctorCommand(PrintWriter out, PrintWriter err, Map<String, String> environment) {
    this.out = out;
    this.err = err;
    this.environment = environment;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    return UserErrors.caught(err, "doctor", this::look);
  }

  private int look() throws IOException {
    var checks = workers.isEmpty() ? ofMachine() : ofWorkers();
    if (json) {
      writeJson(checks);
    } else {
      write(checks);
    }
    boolean missing = checks.stream().anyMatch(check -> check.status() == Status.MISSING);
    return missing ? ExitCode.UNAVAILABLE : ExitCode.OK;
  }

  private List<Check> ofMachine() {
    Path userHome = Path.of(System.getProperty("user.home", "/"));
    var folder = cacheFolder == null ? CacheFolder.usual(environment, userHome) : cacheFolder;
    var checks = new ArrayList<Check>(Doctor.look(folder));
    checks.add(GpuProbe.look());
    checks.addAll(GpuEngineProbe.look());
    return checks;
  }

  private List<Check> ofWorkers() throws IOException {
    var targets = new ArrayList<WorkerProbe.Target>();
    for (var text : workers) {
      var keys = WorkerSettings.written(text, Written.Origin.of("--worker"));
      var worker = RecordReader.read(keys, WorkerSettings.DEFAULT);
      targets.add(new WorkerProbe.Target(worker.url(), worker.events()));
    }
    return WorkerProbe.look(targets, key());
  }

  private @Nullable String key() throws IOException {
    if (workerKey == null) return null;
    if (workerKey.startsWith(Secret.ENVIRONMENT)) {
      return Secret.fromEnvironment(workerKey.substring(Secret.ENVIRONMENT.length())).reveal();
    }
    if (workerKey.startsWith(Secret.FILE)) {
      return Secret.fromFile(Path.of(workerKey.substring(Secret.FILE.length()))).reveal();
    }
    return workerKey;
  }

  private void write(List<Check> checks) {
    for (Check check : checks) {
      out.printf("%s %-9s  %s%n", label(check.status()), check.name(), check.found());
      out.printf("%17s  -> %s%n", "", check.follows());
    }
  }

  private static String label(Status status) {
    String colour =
        switch (status) {
          case OK -> "green";
          case NOTE -> "yellow";
          case MISSING -> "red,bold";
        };
    return Ansi.AUTO.string("@|" + colour + " " + "%-7s".formatted(status.word()) + "|@");
  }

  private void writeJson(List<Check> checks) {
    var mapper = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
    var report = mapper.createObjectNode().put("kvasir", Version.kvasir());
    var list = report.putArray("checks");
    for (Check check : checks) {
      list.addObject()
          .put("name", check.name())
          .put("status", check.status().word())
          .put("found", check.found())
          .put("follows", check.follows())
          .set("details", mapper.valueToTree(check.details()));
    }
    out.println(mapper.writeValueAsString(report));
  }
}
