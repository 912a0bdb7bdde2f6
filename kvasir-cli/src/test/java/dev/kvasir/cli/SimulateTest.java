package dev.kvasir.cli;

import static dev.kvasir.cli.Spoken.kvasir;
import static dev.kvasir.cli.Spoken.words;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Single runs of the simulator, as they are asked for on the command line. */
final class SimulateTest {
  private static final String WORKLOAD =
      """
      requests: 200
      clients:
        - id: chat
          rate: 20
          input: {distribution: lognormal, mean: 600, stdev: 300, max: 2000}
          output: {distribution: exponential, mean: 40, max: 200}
          sessions:
            rounds: {distribution: uniform, min: 2, max: 4}
            think: {distribution: exponential, mean: 2s}
            context: accumulate
      """;

  /** Without sessions, so that instances run side by side. */
  private static final String STRANGERS =
      """
      requests: 200
      clients:
        - id: strangers
          rate: 5
          input: {distribution: lognormal, mean: 600, stdev: 300, max: 2000}
          output: {distribution: exponential, mean: 40, max: 200}
      """;

  private static final String CLUSTER =
      "simulate --json --instances 3 --total-kv-blocks 600 --host-blocks 900 --workload";
  private static final String GOOD =
      "{\"timestamp\": 5, \"input_length\": 600, \"output_length\": 2, \"hash_ids\": [1, 2]}\n";

  @TempDir private Path folder;

  @Test
  void twentyRunsOfOneSeedGiveTheSameBytes() throws IOException {
    var workload = workload();
    var first = kvasir(words(CLUSTER, workload));
    assertThat(first.json().path("completed_requests").asInt()).isEqualTo(200);
    for (int run = 1; run < 20; run++) {
      assertThat(kvasir(words(CLUSTER, workload)).out()).as("run %s", run).isEqualTo(first.out());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4})
  void theNumberOfCoresChangesNoByte(int cores) throws IOException, InterruptedException {
    var workloads = new LinkedHashMap<String, String>();
    workloads.put("asked.yaml", WORKLOAD);
    workloads.put("strangers.yaml", STRANGERS);
    var lines = new ArrayList<String>();
    var here = new StringBuilder();
    for (var requested : workloads.entrySet()) {
      var workload = Files.writeString(folder.resolve(requested.getKey()), requested.getValue());
      for (var routing : List.of("balanced", "round-robin")) {
        var line = CLUSTER + " " + workload + " --routing " + routing;
        lines.add(line);
        here.append(kvasir(words(line)).out());
      }
    }
    assertThat(elsewhere(cores, lines)).isEqualTo(here.toString());
  }

  /** Several command lines in a process of their own. */
  static final class Several {
    private Several() {}

    public static void main(String[] lines) {
      for (var line : lines) {
        var run = kvasir(words(line));
        if (run.code() != ExitCode.OK) throw new IllegalStateException(run.err());
        System.out.print(run.out());
      }
      System.out.flush();
    }
  }

  private String elsewhere(int cores, List<String> lines) throws IOException, InterruptedException {
    var command = words(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:ActiveProcessorCount=" + cores);
    // What runs for seconds is not worth the second compiler's time.
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Several.class.getName());
    command.addAll(lines);
    var run = Script.start(new LinkedHashMap<>(), folder, command.toArray(new String[0])).finish();
    assertThat(run.exit()).as(run.err()).isEqualTo(ExitCode.OK);
    return run.out();
  }

  /** An engine on a pool of blocks, without router, tiers or whatever stands between them. */
  @ParameterizedTest
  @ValueSource(strings = {"event", "step"})
  void noHostMemoryIsTheSingleTierStoreItself(String transfers) throws IOException {
    var trace = Files.writeString(folder.resolve("trace.jsonl"), SingleTier.trace());
    var requests = folder.resolve("requests.jsonl");
    var line =
        "simulate --json --host-blocks 0 --latency-model linear --set hardware.alpha-coeffs=0,0,0"
            + " --set hardware.beta-coeffs=1000,20,30 --eviction lru --total-kv-blocks "
            + SingleTier.BLOCKS
            + " --transfer-model "
            + transfers
            + " --requests-out "
            + requests
            + " --trace";
    var run = kvasir(words(line, trace)).json();
    var reported = new LinkedHashMap<String, List<Long>>();
    Spoken.requests(requests)
        .forEach(
            (id, each) ->
                reported.put(
                    id, List.of(each.path("ttft_us").asLong(), each.path("e2e_us").asLong())));
    var alone = SingleTier.run(trace);
    assertThat(reported).containsExactlyInAnyOrderEntriesOf(alone.times());
    // The run is one in which memory runs out and blocks are found again.
    assertThat(alone.hits()).isPositive();
    assertThat(alone.evicted()).isPositive();
    assertThat(run.path("cache_hit_rate").asDouble()).isCloseTo(alone.hitRate(), within(1e-12));
    assertThat(run.path("tiers").size()).isEqualTo(1);
  }

  /**
   * Compares the rates with those that a plain program finds with the same blocks and no time; see
   * the trace's own page.
   */
  @ParameterizedTest
  @CsvSource({
    "1000, 4.45",
    "5000, 11.18",
    "10000, 21.16",
    "20000, 28.78",
    "50000, 35.46",
    "300000, 36.64"
  })
  void aCacheAloneFindsOfTheMooncakeTraceWhatIsKnown(int blocks, double percent) {
    var trace = Shared.path("traces/mooncake/conversation_trace.jsonl");
    var line = "simulate --json --cache-only --block-size 512 --eviction lru --total-kv-blocks ";
    var found = kvasir(words(line + blocks + " --trace", trace)).json();
    assertThat(100 * found.path("block_hit_rate").asDouble()).isCloseTo(percent, within(0.01));
  }

  /** Puts a bad line behind a good one, and checks what is reported about it. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          {"timestamp": 5, "input_length": 600}                    | there is no output_length
          {"timestamp": 5, "input_length": -1, "output_length": 1} | input_length is -1
          {"timestamp": 4, "input_length": 1, "output_length": 1}  | --sort
          {"timestamp": 5, "input_length": 600, "outp              | not one whole JSON object
          """)
  void aBadLineIsAnsweredWithItsFileItsNumberAndWhatToDo(String line, String answer)
      throws IOException {
    assertThat(wrong(GOOD + line)).contains("trace.jsonl:2: ").contains(answer);
  }

  @Test
  void optionsThatAnAnswerNamesAreThere() throws IOException {
    var early =
        "{\"timestamp\": 4, \"input_length\": 20, \"output_length\": 1, \"hash_ids\": [3, 4]}\n";
    var file = Files.writeString(folder.resolve("trace.jsonl"), GOOD.replace("600", "20") + early);
    var line = "simulate --json --sort --set simulation.id-tokens=16 --trace";
    assertThat(kvasir(words(line, file)).json().path("completed_requests").asInt()).isEqualTo(2);
  }

  @Test
  void aLineOfTenMegabytesIsAnsweredInOneLine() throws IOException {
    assertThat(wrong(GOOD + "x".repeat(10 << 20))).contains("trace.jsonl:2: ").contains("8 MiB");
  }

  private String wrong(String trace) throws IOException {
    var file = Files.writeString(folder.resolve("trace.jsonl"), trace);
    var answer = kvasir("simulate", "--trace", file.toString());
    assertThat(answer.code()).isEqualTo(ExitCode.DATA);
    assertThat(answer.err().lines()).hasSize(1);
    return answer.err();
  }

  private Path workload() throws IOException {
    return Files.writeString(folder.resolve("chat.yaml"), WORKLOAD);
  }
}
