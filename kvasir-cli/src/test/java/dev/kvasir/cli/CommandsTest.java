package dev.kvasir.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class CommandsTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir Path home;

  @Test
  void helpSaysWhatItIsAndListsCommandsExampleAndExitCodes() {
    assertThat(kvasir("--help")).isEqualTo(ExitCode.OK);

    assertThat(out.toString())
        .startsWith("Kvasir keeps the KV cache of large language models alive")
        .contains("Commands:", "  doctor ", "  bench ", "Examples:", "Exit codes:", "NO_COLOR")
        .contains("  64 ", "  69 ", "  70 ");
    assertThat(err.toString()).isEmpty();
    assertThat(out.toString().lines()).allMatch(line -> line.length() <= 100);
  }

  @Test
  void benchMeasuresTheTiersAndLeavesNothingBehind(@TempDir Path folder) throws IOException {
    int code =
        kvasir("bench", "--tiers", "--json", "--dir", "" + folder, "--size", "16", "--rounds", "1");

    assertThat(code).isEqualTo(ExitCode.OK);
    JsonNode report = JsonMapper.builder().build().readTree(out.toString());
    assertThat(report.get("rates")).isNotEmpty();
    assertThat(report.get("ratios")).hasSize(8);
    try (var left = Files.list(folder)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void benchThatCannotBeRunSaysWhy(@TempDir Path folder) {
    assertThat(kvasir("bench")).isEqualTo(ExitCode.USAGE);
    assertThat(kvasir("bench", "--tiers", "--size", "1")).isEqualTo(ExitCode.USAGE);
    assertThat(kvasir("bench", "--tiers", "--dir", folder + "/nowhere")).isEqualTo(ExitCode.USAGE);

    assertThat(err.toString().lines())
        .hasSize(3)
        .allMatch(line -> line.endsWith("Try 'kvasir bench --help'."));
  }

  @Test
  void aTokenizerThatCannotBeUsedIsAMistakeThatSaysWhatToDo(@TempDir Path folder)
      throws IOException {
    var broken = Files.writeString(folder.resolve("broken.json"), "{\"model\":");
    var other = Files.writeString(folder.resolve("other.json"), "[]");
    var empty = Files.createDirectory(folder.resolve("empty"));
    for (var wrong : List.of(folder + "/nowhere", "" + broken, "" + other, "" + empty, "a\0b")) {
      err.getBuffer().setLength(0);
      int code =
          kvasir(
              "serve",
              "--worker=http://127.0.0.1:1",
              "--port=0",
              "--admin-port=0",
              "--tokenizer=tiny=" + wrong);

      assertThat(code).as(wrong).isEqualTo(ExitCode.USAGE);
      assertThat(err.toString().lines()).hasSize(1);
      assertThat(err.toString())
          .contains("routing.tokenizer '" + wrong + "' cannot be used: ")
          .contains("give the folder with tokenizer.json", "or leave it out to ask workers")
          .endsWith("Try 'kvasir serve --help'." + System.lineSeparator());
    }
  }

  @Test
  void numbersThatAFleetCannotHaveAreMistakes() {
    assertThat(kvasir("fleet", "--workers=0")).isEqualTo(ExitCode.USAGE);
    assertThat(kvasir("fleet", "--port=99999")).isEqualTo(ExitCode.USAGE);

    assertThat(err.toString().lines())
        .containsExactly(
            "kvasir: 0 workers, expected 1 to 256. Try 'kvasir fleet --help'.",
            "kvasir: 4 workers from port 99999 on, expected ports from 0 to 65535."
                + " Try 'kvasir fleet --help'.");
  }

  @Test
  void aWorkerThatTheDoctorCannotReadIsAMistake() {
    assertThat(kvasir("doctor", "--worker=http://a:1,evnts=tcp://a:2")).isEqualTo(ExitCode.USAGE);
    assertThat(kvasir("doctor", "--worker=a:1")).isEqualTo(ExitCode.USAGE);

    assertThat(err.toString())
        .contains("unknown key 'evnts'; did you mean 'events'?")
        .contains("give it as http://HOST:PORT");
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void aFileInAFolderThatIsNotThereIsToldFromOneThatIsMissing() {
    assertThat(kvasir("check-config", home + "/kvasir.yaml")).isEqualTo(ExitCode.DATA);
    assertThat(kvasir("check-config", home + "/none/kvasir.yaml")).isEqualTo(ExitCode.DATA);

    assertThat(err.toString().lines())
        .containsExactly(
            "kvasir: there is no file " + home + "/kvasir.yaml",
            "kvasir: there is no file " + home + "/none/kvasir.yaml: its folder is not there");
  }

  @Test
  void versionTellsKvasirJavaAndMachine() {
    assertThat(kvasir("--version")).isEqualTo(ExitCode.OK);

    assertThat(out.toString().lines())
        .hasSize(3)
        .anyMatch(line -> line.startsWith("kvasir "))
        .anyMatch(line -> line.startsWith("JDK " + Runtime.version()))
        .anyMatch(line -> line.endsWith(System.getProperty("os.arch")));
  }

  @Test
  void withoutACommandTheHelpGoesToStandardErrorAsAMistake() {
    assertThat(kvasir()).isEqualTo(ExitCode.USAGE);

    assertThat(out.toString()).isEmpty();
    assertThat(err.toString()).contains("Commands:");
  }

  @Test
  void anUnknownCommandIsAnsweredWithTheNearestInOneLine() {
    assertThat(kvasir("doctro")).isEqualTo(ExitCode.USAGE);

    assertThat(err.toString().lines())
        .containsExactly(
            "kvasir: unknown command 'doctro'; did you mean 'doctor'? Try 'kvasir --help'.");
  }

  @Test
  void aCommandUnlikeAnyIsAnsweredWithoutAGuess() {
    assertThat(kvasir("frobnicate")).isEqualTo(ExitCode.USAGE);

    assertThat(err.toString().lines())
        .containsExactly("kvasir: unknown command 'frobnicate'. Try 'kvasir --help'.");
  }

  @Test
  void anUnknownOptionIsAnsweredWithTheNearestInOneLine() {
    assertThat(kvasir("doctor", "--cache-dri=/tmp")).isEqualTo(ExitCode.USAGE);

    assertThat(err.toString().lines())
        .containsExactly(
            "kvasir: unknown option '--cache-dri'; did you mean '--cache-dir'?"
                + " Try 'kvasir doctor --help'.");
  }

  @Test
  void removedOptionIsAnsweredWithWhatToDo() {
    assertThat(kvasir("serve", "--warm-up=0s")).isEqualTo(ExitCode.USAGE);

    assertThat(err.toString().lines()).hasSize(1);
    assertThat(err.toString())
        .startsWith("kvasir: there is no option '--warm-up' any more; leave it out");
  }

  @Test
  void aMissingValueOrAnArgumentTooManyIsAnsweredInOneLine() {
    assertThat(kvasir("doctor", "--cache-dir")).isEqualTo(ExitCode.USAGE);
    assertThat(kvasir("doctor", "surplus")).isEqualTo(ExitCode.USAGE);

    assertThat(err.toString().lines())
        .containsExactly(
            "kvasir: missing required parameter for option '--cache-dir' (DIR)."
                + " Try 'kvasir doctor --help'.",
            "kvasir: unexpected argument 'surplus'. Try 'kvasir doctor --help'.");
  }

  @Test
  void doctorWritesTwoLinesForEachCheck(@TempDir Path folder) {
    assertThat(kvasir("doctor", "--cache-dir", folder.toString())).isEqualTo(ExitCode.OK);

    assertThat(out.toString().lines()).hasSize(2 * 7);
    assertThat(out.toString()).contains(folder.toString()).contains("-> ");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void doctorWritesJsonWithStableKeys(@TempDir Path folder) {
    assertThat(kvasir("doctor", "--json", "--cache-dir", folder.toString())).isEqualTo(ExitCode.OK);

    JsonNode report = JsonMapper.shared().readTree(out.toString());
    assertThat(report.propertyNames()).containsExactly("kvasir", "checks");
    assertThat(report.get("checks")).hasSize(7);
    for (JsonNode check : report.get("checks")) {
      assertThat(check.propertyNames())
          .containsExactly("name", "status", "found", "follows", "details");
      assertThat(check.get("status").asString()).isIn("ok", "note");
    }
    assertThat(report.at("/checks/0/details/version").asString())
        .isEqualTo(Runtime.version().toString());
    assertThat(report.at("/checks/1/details/available").asInt()).isPositive();
  }

  @Test
  void doctorEndsWithItsOwnCodeWhenSomethingNeededIsMissing() {
    assumeThat(Path.of("/proc/self")).exists();

    assertThat(kvasir("doctor", "--cache-dir", "/proc/kvasir")).isEqualTo(ExitCode.UNAVAILABLE);

    assertThat(out.toString()).contains("missing cache ");
  }

  @Test
  void aBugIsReportedInOneLineAndWhollyWhenAskedFor() {
    assertThat(failing(Map.of())).isEqualTo(ExitCode.INTERNAL);
    assertThat(err.toString().lines())
        .containsExactly(
            "kvasir: internal error: java.lang.IllegalStateException: a bug."
                + " KVASIR_DEBUG=1 shows where.");

    assertThat(failing(Map.of("KVASIR_DEBUG", "1"))).isEqualTo(ExitCode.INTERNAL);
    assertThat(err.toString()).contains("at dev.kvasir.cli.CommandsTest");
  }

  @Test
  void aPortInUseIsToldWithWhatToDoByEveryServer() throws IOException {
    try (var occupied = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var port = Integer.toString(occupied.getLocalPort());
      var cache = Map.of("XDG_CACHE_HOME", home.toString());
      var serve = "serve --worker http://127.0.0.1:1";
      var measured =
          Files.writeString(
              home.resolve("kvasir.yaml"),
              """
              workers: [{url: "http://127.0.0.1:1"}]
              listen: {port: 0, admin-port: 0, metrics: {host: 127.0.0.1, port: %s}}
              """
                  .formatted(port));
      var wanted =
          List.of(
              Spoken.words(serve, "--port", port, "--admin-port", "0"),
              Spoken.words(serve, "--port", "0", "--admin-port", port),
              List.of("serve", "--config", measured.toString()),
              List.of("fleet", "--workers", "1", "--port", port, "--control-port", "0"),
              List.of("fleet", "--workers", "1", "--port", "0", "--control-port", port));
      for (var args : wanted) {
        err.getBuffer().setLength(0);
        int code =
            Main.run(
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                cache,
                args.toArray(String[]::new));
        assertThat(code).as(err.toString()).isEqualTo(ExitCode.UNAVAILABLE);
        assertThat(err.toString().lines().toList().getLast())
            .startsWith("kvasir: cannot listen on 127.0.0.1:" + port + ": another process uses")
            .contains("choose another port", "--help")
            .doesNotContain("netty", "bind(..)");
      }
    }
  }

  @Test
  void placementOptionsThatCannotBeMeantAreToldWithTheirNames() {
    var serve = new String[] {"serve", "--worker", "http://127.0.0.1:1", "", ""};
    var wrong =
        Map.of(
            "--prefill-throughput", "-5",
            "--placements-max", "0",
            "--dedicated-placements-max", "many");
    wrong.forEach(
        (option, value) -> {
          err.getBuffer().setLength(0);
          serve[3] = option;
          serve[4] = value;
          assertThat(kvasir(serve)).as(option).isEqualTo(ExitCode.USAGE);
          assertThat(err.toString()).contains(option, value);
        });
    var scenario = Path.of("..", "examples", "elastic-placement.yaml").toString();
    var keys =
        List.of(
            "routing.session-patience",
            "routing.prefill.placements-max",
            "routing.prefill.overload-factor");
    for (var key : keys) {
      err.getBuffer().setLength(0);
      assertThat(kvasir("simulate", "--config", scenario, "--set", key + "=-1"))
          .as(key)
          .isEqualTo(ExitCode.USAGE);
      assertThat(err.toString()).contains("-1");
    }
  }

  @Test
  void simulateHasAtMostFortyOptionsBesidesSet() {
    var line = Main.line(new PrintWriter(out), new PrintWriter(err), Map.of());
    var simulate = requireNonNull(line.getSubcommands().get("simulate")).getCommandSpec();
    var names = simulate.options().stream().map(option -> option.longestName()).toList();
    assertThat(names).contains("--set").hasSizeLessThanOrEqualTo(41);
  }

  @Test
  void commandIsTheSameAloneAsAmongTheOthers() {
    var line = Main.line(new PrintWriter(out), new PrintWriter(err), Map.of());
    line.getSubcommands()
        .forEach(
            (name, command) -> {
              if (command.getCommandSpec().usageMessage().hidden()) return;
              out.getBuffer().setLength(0);
              assertThat(kvasir(name, "--help")).as(name).isZero();
              assertThat(out).as(name).hasToString(command.getUsageMessage());
            });
  }

  @Test
  void helpSaysDefaultsAsOtherCommandLinesDo() {
    var line = Main.line(new PrintWriter(out), new PrintWriter(err), Map.of());
    line.getSubcommands()
        .forEach(
            (name, command) ->
                assertThat(command.getUsageMessage())
                    .as(name)
                    .doesNotContain("Usually", "usually", "seed-", "of our own"));
  }

  private int kvasir(String... args) {
    return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), Map.of(), args);
  }

  private int failing(Map<String, String> environment) {
    Runnable bug =
        () -> {
          throw new IllegalStateException("a bug");
        };
    var writer = new PrintWriter(err, true);
    return new CommandLine(CommandSpec.wrapWithoutInspection(bug))
        .setExecutionExceptionHandler(new Bugs(writer, environment))
        .execute();
  }
}
