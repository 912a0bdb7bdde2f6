package dev.kvasir.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

/** A capture whose cluster was itself simulated: what it is made of must be found again. */
@Tag("all")
class ValidateTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final List<String> SETTINGS =
      List.of(
          "engines.count=2",
          "engines.total-kv-blocks=60",
          "engines.step-tokens-max=512",
          "tiers.host.blocks=400",
          "tiers.disk.blocks=0");
  private static final int OVERHEAD_MICROS = 4_000;
  private static final int STEP_MICROS = 900;
  private static final int PREFILL_MICROS = 150;

  @TempDir private Path folder;
  private Path capture = Path.of("");

  /** Runs requests with known costs, and writes what came out as a gateway would. */
  @BeforeEach
  void capture() throws IOException {
    var bare = Files.writeString(folder.resolve("bare.jsonl"), String.join("\n", requests()));
    var results = folder.resolve("results.jsonl");
    var config = Files.writeString(folder.resolve("kvasir.yaml"), "");
    var words = Spoken.words("simulate --latency-model linear --config", config, "--trace", bare);
    for (var setting : SETTINGS) words.addAll(List.of("--set", setting));
    words.addAll(List.of("--requests-out", "" + results));
    words.addAll(List.of("--set", "hardware.alpha-coeffs=" + OVERHEAD_MICROS + ",0,0"));
    words.add("--set");
    words.add("hardware.beta-coeffs=" + STEP_MICROS + "," + PREFILL_MICROS + ",0");
    assertThat(Spoken.kvasir(words).code()).isZero();
    var lines = new ArrayList<String>();
    lines.add(settings());
    lines.add(steps());
    var measured = Spoken.requests(results);
    for (var line : Files.readAllLines(bare)) {
      var request = JSON.readTree(line).asObject();
      var result = requireNonNull(measured.get(request.path("id").asString()));
      request.set("ttft_us", result.path("ttft_us"));
      request.set("e2e_us", result.path("e2e_us"));
      request.set("cached_tokens", result.at("/cached_tokens/total"));
      lines.add(request.toString());
    }
    capture = Files.writeString(folder.resolve("traffic.jsonl"), String.join("\n", lines));
  }

  private static List<String> requests() {
    var random = new SplittableRandom(7);
    var lines = new ArrayList<String>();
    long micros = 1_000_000;
    for (int i = 0; i < 200; i++) {
      var request = JSON.createObjectNode().put("schema", "kvasir.capture.v1");
      int blocks = 10 + random.nextInt(10);
      request.put("id", "r" + i).put("arrival_us", micros).put("block_tokens", 16);
      request.put("prompt_tokens", 16 * blocks + 3).put("output_tokens", 1 + random.nextInt(30));
      int topic = random.nextInt(12);
      ArrayNode names = request.putArray("blocks");
      for (int block = 0; block < blocks; block++) {
        int owner = block < 8 ? topic : 100 + i;
        names.add(String.format("%08x%08x", owner, block));
      }
      lines.add(request.toString());
      micros += random.nextInt(120_000);
    }
    return lines;
  }

  private static String settings() {
    var line = JSON.createObjectNode().put("schema", "kvasir.deployment.v1");
    var deployment = line.putObject("deployment");
    var engines = deployment.putObject("engines").put("count", "2");
    engines.put("total-kv-blocks", "60").put("step-tokens-max", "512");
    deployment.putArray("tiers").addObject().put("kind", "host").put("blocks", "400");
    return line.toString();
  }

  private static String steps() {
    var line = JSON.createObjectNode().put("schema", "kvasir.steps.v1");
    var steps = line.putArray("steps");
    for (int i = 0; i < 60; i++) {
      int tokens = i % 2 == 0 ? 0 : 16 + 7 * i;
      long micros = STEP_MICROS + (long) PREFILL_MICROS * tokens;
      long context = tokens * (tokens - 1L) / 2;
      steps.addArray().add(tokens).add(context).add(1 + i % 3).add(200 + i).add(micros);
    }
    return line.toString();
  }

  @Test
  void whatTheCaptureIsMadeOfIsPredictedAgain() {
    var output = Spoken.kvasir("simulate", "--validate", "" + capture, "--json");
    var fidelity = output.json();
    assertThat(fidelity.path("requests").asInt()).isEqualTo(200);
    assertThat(fidelity.at("/ttft/median_error").asDouble()).isCloseTo(0, within(0.01));
    assertThat(fidelity.at("/ttft/request_error_p50").asDouble()).isLessThan(0.01);
    assertThat(fidelity.at("/e2e/median_error").asDouble()).isCloseTo(0, within(0.01));
    double measured = fidelity.at("/hit_rate/measured").asDouble();
    assertThat(measured).isPositive();
    assertThat(fidelity.at("/hit_rate/predicted").asDouble()).isCloseTo(measured, within(0.01));
    assertThat(output.err()).contains("fitted to 60 steps").contains("a request takes 4.0 ms");
  }

  @Test
  void theTableAndTheLinesTellTheSame() throws IOException {
    var lines = folder.resolve("requests.jsonl");
    var output =
        Spoken.kvasir("simulate", "--validate", "" + capture, "--requests-out", "" + lines);
    assertThat(output.out()).contains("TTFT p50", "E2E p90", "cached %", "points");
    assertThat(Files.readAllLines(lines))
        .hasSize(200)
        .allMatch(line -> line.contains("\"measured\"") && line.contains("\"predicted\""));
  }

  @Test
  void aTraceThatSaysHowItWasMadeIsSimulatedSoAndWhatIsSaidGoesBeforeIt() {
    var trace = List.of("simulate", "--trace", "" + capture, "--json");
    var as = Spoken.kvasir(trace).json();
    var alike = new ArrayList<>(trace);
    alike.addAll(List.of("--instances", "2"));
    assertThat(Spoken.kvasir(alike).json()).isEqualTo(as);
    alike.set(alike.size() - 1, "1");
    assertThat(Spoken.kvasir(alike).json()).isNotEqualTo(as);
    var sweep = new ArrayList<>(trace);
    sweep.addAll(List.of("--sweep", "tiers.host.blocks=0,400"));
    var swept = Spoken.kvasir(sweep).json();
    assertThat(swept.at("/1/summary")).isEqualTo(as);
    assertThat(swept.at("/0/summary/token_hit_rate").asDouble())
        .isLessThan(as.path("token_hit_rate").asDouble());
    var bare = new ArrayList<>(trace);
    bare.add("--requests-only");
    assertThat(Spoken.kvasir(bare).json().path("ttft_p50_ms")).isNotEqualTo(as.path("ttft_p50_ms"));
  }

  @Test
  void twoRunsInOneFileAreNotComparedAtOnce() throws IOException {
    Files.writeString(capture, Files.readString(capture) + "\n" + settings());
    var output = Spoken.kvasir("simulate", "--validate", "" + capture);
    assertThat(output.code()).isEqualTo(ExitCode.USAGE);
    assertThat(output.err()).contains("holds 2 runs; capture each into a file of its own");
  }
}
