package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** No wrong value of an option is told as a bug; the exit code is the one that help documents. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WrongOptionsTest {
  private static final List<Integer> CODES =
      List.of(ExitCode.OK, 1, ExitCode.USAGE, ExitCode.DATA, ExitCode.UNAVAILABLE);

  /** An address that no machine has, so that nothing that takes a value as it is serves. */
  private static final String NOWHERE = "203.0.113.7";

  private static final Map<String, List<String>> BEGINNINGS =
      Map.of(
          "serve", List.of("--worker", "http://127.0.0.1:1", "--host", NOWHERE),
          "picker", List.of("--worker", "http://127.0.0.1:1", "--host", NOWHERE),
          "fleet", List.of("--host", NOWHERE),
          "tier", List.of("--host-bytes", "900TiB"),
          "simulate", List.of("--trace", "/nonexist/trace"),
          "plan", List.of("--trace", "/nonexist/trace", "--slo-ttft", "3s"),
          "explain", List.of("/nonexist/trace"));

  private static final List<String> BUGS =
      List.of("internal error", "dev.kvasir", "java.", "Exception");

  @TempDir private Path folder;
  private final List<String> unreported = new ArrayList<>();

  @Test
  void noWrongValueOfAnyOptionIsAnInternalError() {
    var silent = new PrintWriter(new StringWriter());
    var line = Main.line(silent, silent, Map.of());
    int checked = 0;
    for (var command : line.getSubcommands().values()) checked += all(command, List.of());
    assertThat(unreported).isEmpty();
    assertThat(checked).isGreaterThan(100);
  }

  private int all(CommandLine line, List<String> above) {
    var spec = line.getCommandSpec();
    var words = new ArrayList<>(above);
    words.add(spec.name());
    // What it runs is the product itself, for the launcher alone.
    if (spec.name().equals("rehearse")) return 0;
    int checked = 0;
    for (var command : line.getSubcommands().values()) checked += all(command, words);
    for (var wrong : wrong(spec)) {
      checked++;
      var all = new ArrayList<>(words);
      if (above.isEmpty()) {
        var beginning = BEGINNINGS.getOrDefault(spec.name(), List.of());
        int own = beginning.indexOf(wrong.getFirst());
        var rest = new ArrayList<>(beginning);
        if (own >= 0) rest.subList(own, own + 2).clear();
        all.addAll(rest);
      }
      all.addAll(wrong);
      check(all);
    }
    return checked;
  }

  private List<List<String>> wrong(CommandSpec spec) {
    var wrong = new ArrayList<List<String>>();
    for (var option : spec.options()) {
      if (option.arity().max() == 0) continue;
      for (var value : List.of("/dev/null/x", "" + folder)) {
        wrong.add(List.of(option.longestName(), value));
      }
    }
    return wrong;
  }

  private void check(List<String> words) {
    var output = Spoken.kvasir(words);
    boolean isReported =
        BUGS.stream().noneMatch(output.err()::contains) && CODES.contains(output.code());
    if (!isReported)
      unreported.add(String.join(" ", words) + ": " + output.code() + " " + output.err());
  }

  @ParameterizedTest
  @CsvSource({
    "serve --model nope.gguf, 65, there is no such file",
    "serve --model /etc/hostname, 65, model file /etc/hostname",
    "serve --worker http://127.0.0.1:1 --capture /nonexist/x, 65, its folder is not there",
    "serve --api-keys /nonexist/keys, 65, there is no file /nonexist/keys",
    "serve --config /nonexist/x.yaml, 65, there is no file",
    "simulate --trace examples/documents.jsonl --report /nonexist/x.html, 65, its folder",
    "simulate --trace /nonexist/x, 65, there is no file",
    "explain cache, 64, no trace is named",
    "tier --disk-bytes 1MiB --folder /proc/x, 65, cannot use /proc/x",
    "tier --host-bytes 900TiB, 69, this machine has memory of",
    "bench --tiers --dir /nonexist, 64, is not a folder"
  })
  void eachMistakeHasItsCode(String line, int code, String expected) {
    var absent = folder.resolve("none").toString();
    var checked = line.replace("examples/", examples()).replace("/nonexist", absent);
    var output = Spoken.kvasir(List.of(checked.split(" ", -1)));
    assertThat(output.err())
        .contains(expected.replace("/nonexist", absent))
        .doesNotContain("internal error", "dev.kvasir", "java.");
    assertThat(output.code()).as(output.err()).isEqualTo(code);
  }

  @Test
  void aGpuThatIsNotThereIsUnavailable() {
    assumeFalse(Files.exists(Path.of("/dev/nvidia0")), "this machine has a GPU");
    var output = Spoken.kvasir(Spoken.words("serve --device gpu --port 0 --cache-dir", folder));
    assertThat(output.code()).as(output.err()).isEqualTo(ExitCode.UNAVAILABLE);
    assertThat(output.err().lines()).singleElement().asString().contains("NVIDIA");
  }

  @ParameterizedTest
  @CsvSource({
    "KVASIR_ENGINES_MODEL, serve --port 0, there is no such file",
    "KVASIR_CACHE, serve --port 0, /dev/null/none",
    "KVASIR_TIER_CONFIG, serve --worker http://127.0.0.1:1 --port 0, there is no file"
  })
  void aPathInAVariableThatIsNotThereIsTold(String name, String line, String expected) {
    var err = new StringWriter();
    var silent = new PrintWriter(new StringWriter());
    var environment = Map.of(name, "/dev/null/none");
    int code = Main.run(silent, new PrintWriter(err, true), environment, line.split(" ", -1));
    assertThat(err.toString()).contains("/dev/null/none", expected).doesNotContain("nothing reads");
    assertThat(code).as(err.toString()).isEqualTo(ExitCode.DATA);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "limits: {queue: 3}",
        "limits: {queue: -1}",
        "routing: {policy: least-loaded}",
        "routing: {policy: none-such}",
        "nonsense: 1",
        "tiers: {host: {blocks: 4}}",
        "tiers: {host: {size: 64Gigs}}",
        "engines: {block-size: 17}",
        "engines: {prefill: 1}",
        "listen: {port: 70000}",
        "tier-config: /dev/null/none.yaml",
        "workers: [{url: 'not a url'}]"
      })
  void whatCheckConfigAcceptsIsServedAndWhatItRefusesIsNot(String more) throws IOException {
    var worker = "workers: [{url: 'http://127.0.0.1:1'}]\n";
    var text = (more.startsWith("workers") || more.startsWith("engines") ? "" : worker) + more;
    var file = Files.writeString(folder.resolve("kvasir.yaml"), text + "\n");
    var checked = Spoken.kvasir("check-config", file.toString());
    var words = Spoken.words("serve --host", NOWHERE, "--admin-port", "0");
    words.addAll(List.of("--cache-dir", folder.toString(), "--config", file.toString()));
    var served = Spoken.kvasir(words);
    if (checked.code() == ExitCode.OK) {
      // All that is wrong is an address of another machine.
      assertThat(served.code()).as(served.err()).isEqualTo(ExitCode.UNAVAILABLE);
      assertThat(served.err()).contains(NOWHERE);
    } else {
      assertThat(served.code()).as(checked.err() + served.err()).isEqualTo(checked.code());
    }
  }

  private static String examples() {
    return Script.projectRoot().resolve("examples") + "/";
  }

  @Test
  void aReportIsRefusedBeforeAnythingIsSimulated() {
    var words = Spoken.words("simulate --trace", examples() + "documents.jsonl");
    words.addAll(List.of("--report", folder.resolve("none/x.html").toString()));
    assertThat(Spoken.kvasir(words).out()).isEmpty();
  }

  @Test
  void keysThatAreMissingAreToldBeforeTheDiskIsLocked() {
    var home = folder.resolve("cache");
    var words = Spoken.words("serve --api-keys /nonexist/keys --cache-dir", home);
    assertThat(Spoken.kvasir(words).code()).isEqualTo(ExitCode.DATA);
    assertThat(Files.exists(home)).isFalse();
  }

  @Test
  void aTraceThatWasNotMeasuredIsNotCompared() {
    var output = Spoken.kvasir("simulate", "--validate", examples() + "documents.jsonl");
    assertThat(output.code()).isEqualTo(ExitCode.DATA);
    assertThat(output.err()).contains("this trace has no measured times, so there is nothing");
    assertThat(output.out()).isEmpty();
  }

  @Test
  void aFleetOnAUsedPortSaysSoAndNothingElse() throws IOException {
    try (var occupied = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var port = "--port=" + occupied.getLocalPort();
      var output = Spoken.kvasir("fleet", "--workers=1", port, "--control-port=0");
      assertThat(output.code()).isEqualTo(ExitCode.UNAVAILABLE);
      assertThat(output.err().lines()).singleElement().asString().contains("another process uses");
    }
  }

  @Test
  void traceIsExplainedInItsOwnBlocks() {
    var trace = examples() + "documents.jsonl";
    var expected = Spoken.kvasir("explain", trace);
    assertThat(expected.code()).as(expected.err()).isEqualTo(ExitCode.OK);
    assertThat(expected.out()).isEqualTo(Spoken.kvasir("explain", "cache", trace).out());
    var own = Spoken.kvasir("explain", "cache", trace, "--block-size", "64");
    assertThat(expected.out()).isEqualTo(own.out());
  }

  @Test
  void planNamesWhereTheEnginesAreSwept() {
    var output =
        Spoken.kvasir("plan", "--config", examples() + "instances.yaml", "--slo-ttft", "3s");
    assertThat(output.err()).contains("instances.yaml").doesNotContain("--sweep");
  }

  @Test
  void whatIsShownAsTheCommandIsOne() throws IOException {
    var page = folder.resolve("page.html");
    var trace = examples() + "documents.jsonl";
    var words = Spoken.words("simulate --trace", trace, "--report", page);
    assertThat(Spoken.kvasir(words).code()).isEqualTo(ExitCode.OK);
    var text = Files.readString(page);
    assertThat(text).contains("kvasir simulate --trace").doesNotContain("simulate simulate");
  }

  @Test
  void variablesThatNothingReadsAreNamed() {
    var output = run(Map.of("KVASIR_LISTEN_PROT", "1", "KVASIR_JAVA_OPTS", "-Xmx1g"));
    assertThat(output)
        .isEqualTo(
            "kvasir: nothing reads the variable KVASIR_LISTEN_PROT;"
                + " did you mean KVASIR_LISTEN_PORT?");
    var service = Map.of("KVASIR_SERVICE_HOST", "10.0.0.1", "KVASIR_PORT", "tcp://10.0.0.1:8000");
    assertThat(run(service)).isEmpty();
    assertThat(run(Map.of("KVASIR_TENANT_SECRET", "x", "KVASIR_LISTEN_PORT", "1"))).isEmpty();
  }

  private static String run(Map<String, String> environment) {
    var err = new StringWriter();
    var silent = new PrintWriter(new StringWriter());
    Main.run(silent, new PrintWriter(err, true), environment, "--version");
    return err.toString().strip();
  }

  @Test
  void countsAreNotTakenForBytesAndSizesAreReadAlike() {
    var count = Spoken.kvasir("simulate", "--trace", "x", "--set", "engines.count=abc");
    assertThat(count.err()).contains("engines.count", "a whole number").doesNotContain("bytes");
    var size = Spoken.kvasir("simulate", "--trace", "x", "--set", "tiers.host.size=64Gigs");
    assertThat(size.err()).contains("tiers.host.size", "64GiB or 64GB");
  }
}
