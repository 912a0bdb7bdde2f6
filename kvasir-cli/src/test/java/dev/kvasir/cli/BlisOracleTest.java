package dev.kvasir.cli;

import static dev.kvasir.cli.Spoken.kvasir;
import static dev.kvasir.cli.Spoken.read;
import static dev.kvasir.cli.Spoken.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Holds the command line against recorded runs of BLIS: requests exactly, figures at 1e-9. */
@Tag("all")
class BlisOracleTest {
  private static final double CLOSE = 1e-9;

  @TempDir private Path folder;

  static Stream<String> cases() {
    var names = new ArrayList<String>();
    for (var run : read(oracle("manifest.json"))) names.add(run.path("name").asString());
    return names.stream();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void recordedRunsComeOutTheSame(String name) throws IOException {
    var run = recorded(name);
    var args = run.path("args").asString();
    var trace = run.path("trace").asString();
    var hardware = oracle("configs/hardware_config.json").toString();
    var figures = simulate(args.replace("hardware_config.json", hardware), trace(trace));

    var metrics = oracle("results").resolve(name + ".metrics.json");
    var requests = Spoken.requests(folder.resolve("requests.jsonl"));
    if (Files.exists(metrics)) {
      compareFigures(figures, read(metrics));
      assertThat(reported(requests, "ttft_us", "e2e_us", "sched_delay_us", "instance"))
          .containsExactlyEntriesOf(recordedMetrics(read(metrics).path("requests")));
    } else {
      var stdout = Files.readString(oracle("results").resolve(name + ".stdout.txt"));
      compareFigures(figures, parse(stdout.substring(stdout.indexOf('{'))));
      var results = read(oracle("results").resolve(name + ".results.json"));
      assertThat(reported(requests, "ttft_us", "e2e_us"))
          .containsExactlyEntriesOf(recordedResults(results));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void goldenWorkloadsComeOutTheSame(int number) throws IOException {
    var golden = read(oracle("golden/goldendataset.json")).path("tests").path(number);
    var expected = new TreeMap<String, String>();
    var trace = goldenTrace(oracle("golden/golden" + number + ".csv"), expected);
    var figures = simulate(goldenFlags(golden), new Trace(goldenHeader(), trace));

    compareFigures(figures, golden.path("metrics"));
    assertThat(
            reported(
                Spoken.requests(folder.resolve("requests.jsonl")),
                "ttft_us",
                "e2e_us",
                "sched_delay_us"))
        .containsExactlyEntriesOf(expected);
  }

  private record Trace(Path header, Path rows) {}

  private static Trace trace(String name) {
    var traces = oracle("traces");
    return new Trace(traces.resolve(name + ".yaml"), traces.resolve(name + ".csv"));
  }

  private JsonNode simulate(String args, Trace trace) {
    return kvasir(
            words(
                "simulate --compat blis --json " + args,
                "--trace-header",
                trace.header(),
                "--trace-data",
                trace.rows(),
                "--go-rng-table",
                oracle("go-rand-table.json"),
                "--requests-out",
                folder.resolve("requests.jsonl")))
        .json();
  }

  /** Every figure that was recorded; those that are left out there where they are 0, too. */
  private static void compareFigures(JsonNode figures, JsonNode recorded) {
    var wrong = new ArrayList<String>();
    recorded
        .properties()
        .forEach(
            figure -> {
              if (!figure.getValue().isNumber()) return;
              double was = figure.getValue().asDouble();
              double is = figures.path(figure.getKey()).asDouble(Double.NaN);
              if (!(Math.abs(is - was) <= CLOSE * Math.abs(was))) {
                wrong.add(figure.getKey() + " is " + is + " and was " + was);
              }
            });
    assertThat(wrong).isEmpty();
    if (!recorded.has("kv_allocation_failures")) {
      assertThat(figures.path("kv_allocation_failures").asLong()).isZero();
    }
  }

  /** Returns the results of the accepted requests; a time that never came counts as 0. */
  private static Map<String, String> reported(Map<String, JsonNode> requests, String... fields) {
    var reported = new TreeMap<String, String>();
    requests.forEach(
        (name, request) -> {
          var outcome = request.path("outcome").asString();
          if (outcome.equals("rejected") || outcome.equals("dropped")) return;
          var values = new ArrayList<String>();
          for (var field : fields) values.add(request.path(field).asString("0"));
          reported.put(name, values.toString());
        });
    return reported;
  }

  private static Map<String, String> recordedMetrics(JsonNode requests) {
    var recorded = new TreeMap<String, String>();
    for (var request : requests) {
      recorded.put(
          request.path("requestID").asString(),
          List.of(
                  micros(request, "ttft_ms"),
                  micros(request, "e2e_ms"),
                  micros(request, "scheduling_delay_ms"),
                  request.path("handled_by").asString("0"))
              .toString());
    }
    return recorded;
  }

  private static Map<String, String> recordedResults(JsonNode requests) {
    var recorded = new TreeMap<String, String>();
    for (var request : requests) {
      recorded.put(
          "request_" + request.path("request_id").asLong(),
          List.of(request.path("ttft_us").asLong(), request.path("e2e_us").asLong()).toString());
    }
    return recorded;
  }

  private static long micros(JsonNode request, String field) {
    return new BigDecimal(request.path(field).asString("0")).movePointRight(3).longValueExact();
  }

  /** The model and the GPU that the golden runs are made for. */
  private String goldenFlags(JsonNode golden) throws IOException {
    var model = folder.resolve("config.json");
    Files.writeString(
        model,
        """
        {"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
         "num_key_value_heads": 8, "torch_dtype": "bfloat16"}
        """);
    var hardware = folder.resolve("hardware.json");
    Files.writeString(
        hardware,
        """
        {"H100": {"TFlopsPeak": 989, "TFlopsFP8": 0, "BwPeakTBs": 3.35,
                  "mfuPrefill": 0.55, "mfuDecode": 0.30, "MemoryGiB": 80}}
        """);
    var alphas = new ArrayList<String>();
    golden.path("alpha-coeffs").forEach(alpha -> alphas.add(alpha.asString()));
    var flags = new StringBuilder("--latency-model roofline --horizon 100000000000");
    flags.append(" --model-config ").append(model).append(" --hardware-config ").append(hardware);
    flags.append(" --alpha-coeffs ").append(String.join(",", alphas));
    for (var name :
        List.of(
            "tp",
            "seed",
            "max-num-seqs",
            "max-num-batched-tokens",
            "max-model-len",
            "total-kv-blocks",
            "block-size-in-tokens",
            "long-prefill-token-threshold")) {
      flags.append(" --").append(name).append(' ').append(golden.path(name).asString());
    }
    return flags.toString();
  }

  private Path goldenHeader() throws IOException {
    return Files.writeString(folder.resolve("golden.yaml"), "trace_version: 3\ntime_unit: us\n");
  }

  /** The same requests as rows of a TraceV2; what was published of them goes into the map. */
  private Path goldenTrace(Path golden, Map<String, String> expected) throws IOException {
    var rows = new ArrayList<String>();
    rows.add("request_id,prefix_group,prefix_length,input_tokens,output_tokens,arrival_time_us");
    for (var line : Files.readAllLines(golden).stream().skip(1).toList()) {
      var values = line.split(",", -1);
      int prefix = Integer.parseInt(values[2]);
      int own = Integer.parseInt(values[3]) - prefix;
      var number = values[0].substring("request_".length());
      rows.add(
          String.join(
              ",", number, prefix > 0 ? "all" : "", "" + prefix, "" + own, values[4], values[1]));
      expected.put(values[0], List.of(values[5], values[6], values[7]).toString());
    }
    return Files.write(folder.resolve("golden.csv"), rows);
  }

  private static JsonNode recorded(String name) {
    for (var run : read(oracle("manifest.json"))) {
      if (run.path("name").asString().equals(name)) return run;
    }
    throw new AssertionError(name + " is not in the manifest");
  }

  private static JsonNode parse(String json) {
    return new Spoken(ExitCode.OK, json, "").json();
  }

  private static Path oracle(String name) {
    return Shared.path("oracle/blis/" + name);
  }
}
