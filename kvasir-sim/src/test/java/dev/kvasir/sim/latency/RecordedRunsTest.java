package dev.kvasir.sim.latency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.sim.Shared;
import dev.kvasir.sim.latency.ModelSizes.Attention;
import dev.kvasir.sim.latency.ModelSizes.Experts;
import dev.kvasir.sim.latency.ModelSizes.FeedForward;
import dev.kvasir.sim.latency.ModelSizes.Precision;
import dev.kvasir.sim.latency.ModelSizes.Vocabulary;
import dev.kvasir.sim.latency.SmallEngine.Job;
import dev.kvasir.sim.latency.SmallEngine.Limits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Holds the latency models against recorded runs of an independent simulator, to the micro. */
class RecordedRunsTest {
  private static final JsonMapper JSON = new JsonMapper();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "b01_tiny_blackbox",
        "b02_mixed_blackbox",
        "b03_mixed_blackbox_chunked",
        "h01_tiny_const",
        "h02_mixed_const_chunked",
        "h03_mixed_roofline",
        "h04_mixed_trainedphysics",
        "h12_prefix_single"
      })
  void requestsTakeAsLongAsRecorded(String name) throws IOException {
    var folder = Shared.path("oracle/blis");
    var run = recorded(folder, name);
    var flags = flags(run.path("args").asString());
    var jobs = trace(folder.resolve("traces").resolve(run.path("trace").asString() + ".csv"));
    new SmallEngine(model(folder, flags), limits(flags)).run(jobs);

    var expected = new ArrayList<String>();
    for (var row : read(folder.resolve("results").resolve(name + ".results.json"))) {
      expected.add(
          "%d: ttft %d, e2e %d"
              .formatted(
                  row.path("request_id").asInt(),
                  row.path("ttft_us").asLong(),
                  row.path("e2e_us").asLong()));
    }
    assertThat(jobs)
        .extracting(job -> "%s: ttft %d, e2e %d".formatted(job.id, job.ttft, job.e2e))
        .containsExactlyInAnyOrderElementsOf(expected);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void goldenRequestsTakeAsLongAsPublished(int number) throws IOException {
    var folder = Shared.path("oracle/blis/golden");
    var settings = read(folder.resolve("goldendataset.json")).path("tests").path(number);
    var jobs = new ArrayList<Job>();
    var expected = new ArrayList<String>();
    for (var row : rows(folder.resolve("golden" + number + ".csv"))) {
      int prefix = row.number("prefix_tokens");
      jobs.add(
          new Job(
              row.text("request_id"),
              row.number("arrival_us"),
              prefix > 0 ? "prefix" : "",
              prefix,
              row.number("input_tokens_total"),
              row.number("output_tokens")));
      expected.add(
          row.text("request_id")
              + Stream.of("ttft_us", "e2e_us", "sched_delay_us").map(row::text).toList());
    }
    var shape =
        new ModelSizes(
            32,
            4096,
            new Attention(32, 8, 0, 0),
            new FeedForward(0, 0, Experts.NONE),
            new Vocabulary(0, 2, 0),
            new Precision(2, 2));
    var gpu = new Hardware("golden", 989, 0, 3.35, 0.55, 0.30, 0);
    var deployment = new ModelDeployment(shape, gpu, settings.path("tp").asInt());
    var alphas = new ArrayList<Double>();
    settings.path("alpha-coeffs").forEach(alpha -> alphas.add(alpha.asDouble()));
    var limits = new Limits(256, 2048, 0, 4096, settings.path("total-kv-blocks").asInt(), 16);
    new SmallEngine(LatencyModels.named("roofline", alphas, List.of(), deployment), limits)
        .run(jobs);
    assertThat(jobs)
        .extracting(job -> job.id + List.of(job.ttft, job.e2e, job.delay))
        .containsExactlyElementsOf(expected);
  }

  private static JsonNode recorded(Path folder, String name) throws IOException {
    for (var run : read(folder.resolve("manifest.json"))) {
      if (run.path("name").asString().equals(name)) return run;
    }
    throw new AssertionError(name + " is not in the manifest");
  }

  private static Fields flags(String args) {
    var flags = new LinkedHashMap<String, String>();
    var words = args.split(" ", -1);
    for (int i = 0; i < words.length; i += 2) flags.put(words[i].substring(2), words[i + 1]);
    return new Fields(flags);
  }

  private static LatencyModel model(Path folder, Fields flags) throws IOException {
    var config = Path.of(flags.text("model-config-folder")).getFileName() + ".config.json";
    try (var shape = Files.newBufferedReader(folder.resolve("configs").resolve(config));
        var gpus = Files.newBufferedReader(folder.resolve("configs/hardware_config.json"))) {
      var deployment =
          new ModelDeployment(
              ModelConfigFile.read(shape, config),
              HardwareTable.read(gpus, "hardware_config.json").find(flags.text("hardware")),
              flags.number("tp"));
      return LatencyModels.named(
          flags.text("latency-model"),
          coefficients(flags.or("", "alpha-coeffs")),
          coefficients(flags.or("", "beta-coeffs")),
          deployment);
    }
  }

  private static List<Double> coefficients(String values) {
    if (values.isEmpty()) return List.of();
    return Stream.of(values.split(",", -1)).map(Double::valueOf).toList();
  }

  private static Limits limits(Fields flags) {
    return new Limits(
        flags.numberOr(256, "max-num-seqs", "max-num-running-reqs"),
        flags.numberOr(2048, "max-num-batched-tokens", "max-num-scheduled-tokens"),
        flags.numberOr(0, "long-prefill-token-threshold"),
        flags.numberOr(0, "max-model-len"),
        flags.numberOr(0, "total-kv-blocks"),
        flags.numberOr(16, "block-size-in-tokens"));
  }

  private static List<Job> trace(Path file) throws IOException {
    var jobs = new ArrayList<Job>();
    for (var row : rows(file)) {
      int prefix = row.number("prefix_length");
      jobs.add(
          new Job(
              row.text("request_id"),
              row.number("arrival_time_us"),
              row.text("prefix_group"),
              prefix,
              prefix + row.number("input_tokens"),
              row.number("output_tokens")));
    }
    return jobs;
  }

  private static List<Fields> rows(Path file) throws IOException {
    var lines = Files.readAllLines(file);
    var names = lines.getFirst().split(",", -1);
    var rows = new ArrayList<Fields>();
    for (var line : lines.subList(1, lines.size())) {
      var values = line.split(",", -1);
      var row = new LinkedHashMap<String, String>();
      for (int i = 0; i < names.length; i++) row.put(names[i], values[i]);
      rows.add(new Fields(row));
    }
    return rows;
  }

  private static JsonNode read(Path file) {
    return JSON.readTree(file.toFile());
  }

  /** Texts by name. */
  private record Fields(Map<String, String> values) {
    String text(String name) {
      var value = values.get(name);
      if (value == null) throw new AssertionError("no " + name + " in " + values);
      return value;
    }

    int number(String name) {
      return Integer.parseInt(text(name));
    }

    String or(String usual, String name) {
      return values.getOrDefault(name, usual);
    }

    int numberOr(int usual, String... names) {
      for (var name : names) if (values.containsKey(name)) return number(name);
      return usual;
    }
  }
}
