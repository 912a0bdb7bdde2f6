package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Sweeps, scenarios and pages, as they are asked for on the command line. */
@Tag("all")
final class SweepTest {
  private static final String WORKLOAD =
      """
      requests: 60
      clients:
        - id: chat
          rate: 20
          input: {distribution: uniform, min: 100, max: 900}
          output: 20
          prefix: {group: all, tokens: 320}
      """;

  @TempDir private Path folder;
  private Path workload = Path.of("");
  private String out = "";
  private String err = "";

  @BeforeEach
  void writeWorkload() throws IOException {
    workload = Files.writeString(folder.resolve("chat.yaml"), WORKLOAD);
  }

  @Test
  void aSweepGivesWhatTheSingleRunsGive() {
    simulate(
        "--workload",
        "" + workload,
        "--json",
        "--sweep",
        "instances=1,2",
        "--sweep",
        "eviction=lru,fifo");
    var array = json();

    assertThat(array.size()).isEqualTo(4);
    for (var each : array) {
      var settings = each.get("settings");
      simulate(
          "--workload",
          "" + workload,
          "--json",
          "--instances",
          settings.get("instances").asString(),
          "--eviction",
          settings.get("eviction").asString());
      assertThat(each.get("summary")).isEqualTo(json());
    }
    assertThat(array.at("/1/settings").toString())
        .isEqualTo("{\"instances\":\"1\",\"eviction\":\"fifo\"}");
  }

  @Test
  void theNumberOfThreadsChangesNothing() throws IOException {
    var pages = folder.resolve("one.html");
    var sweep = "instances=1,2,3";
    simulate(
        "--workload", "" + workload, "--sweep", sweep, "--threads", "1", "--report", "" + pages);
    var alone = out + Files.readString(pages);
    simulate(
        "--workload", "" + workload, "--sweep", sweep, "--threads", "3", "--report", "" + pages);

    assertThat(out + Files.readString(pages)).isEqualTo(alone);
  }

  @Test
  void aRunGivesTheSamePageEachTime() throws IOException {
    var one = folder.resolve("one.html");
    var two = folder.resolve("two.html");
    simulate("--workload", "" + workload, "--report", "" + one);
    simulate("--workload", "" + workload, "--report", "" + two);

    assertThat(one).hasSameBinaryContentAs(two);
    assertThat(Files.readString(one)).contains("60 requests on 1 instance");
  }

  @Test
  void theCommandLineGoesBeforeTheScenario() throws IOException {
    var scenario =
        scenario("engines: {count: 3}\nhardware: {gpu: H100}\nsimulation: {requests-max: 30}\n");
    simulate("--config", "" + scenario, "--json");
    assertThat(json().get("injected_requests").asInt()).isEqualTo(30);
    simulate("--config", "" + scenario, "--requests", "10", "--json");
    assertThat(json().get("injected_requests").asInt()).isEqualTo(10);
    simulate("--workload", "" + workload, "--instances", "3", "--requests", "10", "--json");
    var direct = out;
    simulate("--config", "" + scenario, "--requests", "10", "--json");
    assertThat(out).isEqualTo(direct);
  }

  @Test
  void anOptionEndsTheScenariosSweepOfIt() throws IOException {
    var scenario = scenario("sweep: {engines.count: [1, 2], engines.eviction: [lru, fifo]}\n");
    simulate("--config", "" + scenario, "--json");
    assertThat(json().size()).isEqualTo(4);
    simulate("--config", "" + scenario, "--instances", "2", "--json");
    assertThat(json().size()).isEqualTo(2);
    simulate("--config", "" + scenario, "--sweep", "instances=1,2,3", "--json");
    assertThat(json().size()).isEqualTo(6);
  }

  @Test
  void aScenarioDescribesItsWorkloadOrNamesAFileBesideIt() throws IOException {
    simulate("--workload", "" + workload, "--json");
    var named = out;
    var one = "engines: {count: 1}\nhardware: {gpu: H100}\n";
    simulate("--config", "" + scenario(one), "--json");
    assertThat(out).isEqualTo(named);
    var within = folder.resolve("within.yaml");
    Files.writeString(within, "workload: chat.yaml\n" + one);
    simulate("--config", "" + within, "--json");
    assertThat(out).isEqualTo(named);
  }

  @Test
  void theSeedOnTheCommandLineDrawsAnew() {
    simulate("--workload", "" + workload, "--json");
    var usual = out;
    simulate("--workload", "" + workload, "--seed", "43", "--json");
    assertThat(out).isNotEqualTo(usual);
  }

  @Test
  void mistakesInASweepAreAnsweredWithWhatToDo() {
    assertThat(mistake("--sweep", "tiers.host.block=1,2"))
        .contains("unknown key 'tiers.host.block'; did you mean 'tiers.host.blocks'?");
    assertThat(mistake("--sweep", "instances")).contains("write a key and its values");
    assertThat(mistake("--sweep", "instances=1,,2")).contains("has an empty value");
    assertThat(mistake("--sweep", "instances=1,1")).contains("a value twice");
    assertThat(mistake("--sweep", "instances=1,two")).contains("'two', expected a whole number");
    assertThat(mistake("--sweep", "listen.port=1")).contains("sweep what is simulated");
    assertThat(mistake("--sweep", "seed=1", "--sweep", "simulation.seed=2"))
        .contains("given twice");
    assertThat(mistake("--sweep", "eviction=lru,none")).contains("'none', expected one of");
    assertThat(mistake("--sweep", "seed=1,2", "--requests-out", "x")).contains("for one run");
    assertThat(mistake("--set", "slo.attainment=99")).contains("a share");
    assertThat(mistake("--set", "cost.disk-gib-hour=1")).contains("set gpu-hour, too");
    assertThat(mistake("--set", "tiers.host.sise=1GiB"))
        .contains("did you mean 'tiers.host.size'?");
    assertThat(mistake("--set", "tiers.host.size")).contains("write KEY=VALUE");
  }

  @Test
  void mistakesInAScenarioAreAnsweredWithWhereAndWhatToDo() throws IOException {
    assertThat(wrong("engines: {cuont: 2}\n"))
        .contains("s.yaml:9: engines.cuont: unknown key 'cuont'; did you mean 'count'?");
    assertThat(wrong("engine: {count: 2}\n"))
        .contains("unknown key 'engine'; did you mean 'engines'?");
    assertThat(wrong("sweep: {seed: [1, 1]}\n")).contains("s.yaml:9: sweep: ").contains("twice");
    assertThat(wrong("sweep: {sed: [1, 2]}\n")).contains("unknown key 'sed'");
  }

  private String wrong(String more) throws IOException {
    assertThat(run("--config", "" + scenario(more))).isEqualTo(ExitCode.DATA);
    return err;
  }

  private String mistake(String... options) {
    var all = new String[options.length + 2];
    all[0] = "--workload";
    all[1] = workload.toString();
    System.arraycopy(options, 0, all, 2, options.length);
    assertThat(run(all)).as(err).isEqualTo(ExitCode.USAGE);
    assertThat(err.lines()).hasSize(1);
    return err;
  }

  private Path scenario(String more) throws IOException {
    var text = "workload:\n" + WORKLOAD.indent(2) + more;
    return Files.writeString(folder.resolve("s.yaml"), text);
  }

  @Test
  void partsOfASweepMergeIntoWhatOneProcessGives() throws IOException {
    var page = folder.resolve("page.html");
    var options =
        List.of("--workload", "" + workload, "--sweep", "instances=1,2,3", "--sweep", "load=1,2");
    simulate(with(options, "--json", "--report", "" + page));
    var whole = out;
    var wholePage = Files.readString(page);
    var merge = new ArrayList<>(List.of("merge", "--json", "--report", "" + page));
    for (int part : List.of(3, 0, 2, 1)) {
      simulate(with(options, "--shard", part + "/4"));
      merge.add("" + Files.writeString(folder.resolve(part + ".json"), out));
    }
    assertThat(command(merge.toArray(String[]::new))).as(err).isEqualTo(ExitCode.OK);
    assertThat(out).isEqualTo(whole);
    assertThat(Files.readString(page)).isEqualTo(wholePage);

    merge.removeLast();
    assertThat(command(merge.toArray(String[]::new))).isEqualTo(ExitCode.USAGE);
    assertThat(err).contains("4 of 6 settings are there; the first that is missing is number 1");
    merge.add(merge.getLast());
    assertThat(command(merge.toArray(String[]::new))).isEqualTo(ExitCode.USAGE);
    assertThat(err).contains("setting 2 is there twice");
  }

  @Test
  void aPartThatIsNoneIsNamed() throws IOException {
    assertThat(run("--workload", "" + workload, "--sweep", "load=1,2", "--shard", "2/2"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(err).contains("--shard 2/2; write I/N with I from 0 to N-1, as in 0/4");
    assertThat(run("--workload", "" + workload, "--shard", "0/2")).isEqualTo(ExitCode.USAGE);
    assertThat(err).contains("--shard is for a sweep");
    var file = Files.writeString(folder.resolve("other.json"), "{\"version\":9}");
    assertThat(command("merge", "" + file)).isEqualTo(ExitCode.USAGE);
    assertThat(err).contains("other.json: no part of a sweep");
  }

  private static String[] with(List<String> options, String... more) {
    var all = new ArrayList<>(options);
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  private void simulate(String... options) {
    assertThat(run(options)).as(err).isEqualTo(ExitCode.OK);
  }

  private int run(String... options) {
    return command(with(List.of("simulate"), options));
  }

  private int command(String... args) {
    var written = new StringWriter();
    var complaints = new StringWriter();
    int code =
        Main.run(new PrintWriter(written, true), new PrintWriter(complaints, true), Map.of(), args);
    out = written.toString();
    err = complaints.toString();
    return code;
  }

  private JsonNode json() {
    return JsonMapper.shared().readTree(out);
  }
}
