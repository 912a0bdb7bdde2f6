package dev.kvasir.cli;

import static dev.kvasir.cli.Spoken.kvasir;
import static dev.kvasir.cli.Spoken.words;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Measures how long it takes to bring a prompt back from a tier, in the units of data sheets. */
final class TierSpeedTest {
  /** All but the last block of the prompt, whose end must be computed for a first token. */
  private static final double TOKENS = 3568;

  private static final double BYTES = 131_072;

  /** The step that computes the last block. */
  private static final double STEP_MS = (1000 + 100 * 16) / 1000.0;

  @TempDir private Path folder;

  /** Rates and latencies of the links that hold where nothing is said. */
  @ParameterizedTest
  @CsvSource({
    "--host-blocks 5000, 55, 0.01",
    "--host-blocks 5000 --hardware L40S, 25, 0.01",
    "--host-blocks 5000 --hardware A100, 25, 0.01",
    "--disk-blocks 5000, 6.8, 0.1",
    "--set tiers.remote.blocks=5000, 2.9, 0.5",
    "--set tiers.object.blocks=5000, 2.8, 100",
    "--disk-blocks 5000 --set tiers.disk.link=nvme-gen5, 13, 0.1",
    "--set tiers.remote.blocks=5000 --set tiers.remote.link=redis-100gbe, 11.7, 0.5",
    "--set tiers.object.blocks=5000 --set tiers.object.link=s3-express"
        + " --set tiers.object.latency=20ms, 2.8, 20",
    "--host-blocks 5000 --set tiers.host.link=10, 10, 0.01",
    "--host-blocks 5000 --set tiers.host.link=10/1 --set tiers.host.latency=500us, 10, 0.5",
    "--host-blocks 5000 --tp 2, 110, 0.01",
    "--set tiers.host.size=10GiB, 55, 0.01",
    "--host-blocks 5000 --set hardware.kv-bytes-per-token=262144, 27.5, 0.01",
    "--host-blocks 5000 --set hardware.kv-bytes-per-token=llama-3.1-70b, 22, 0.01"
  })
  void aPromptComesBackAfterTheLatencyOfItsTierAndTheTimeOfItsBytes(
      String options, double gigabytesASecond, double latencyMillis) throws IOException {
    double transfer = TOKENS * BYTES / gigabytesASecond / 1e6;
    // Whole microseconds, and blocks in batches of one transfer each.
    assertThat(lastFirstToken(options)).isCloseTo(latencyMillis + transfer + STEP_MS, within(0.3));
  }

  @Test
  void theStepModelKeepsTheRatesOfItsDocument() throws IOException {
    var step = "--kv-cpu-blocks 5000 --transfer-model step --kv-offload-threshold 0";
    double transfer = Math.ceil(TOKENS / 100) / 1000;
    assertThat(lastFirstToken(step)).isCloseTo(transfer + STEP_MS, within(0.001));
    double slow = (70 + Math.ceil(TOKENS / 2)) / 1000;
    var slower = step + " --kv-transfer-bandwidth 2 --kv-transfer-base-latency 70";
    assertThat(lastFirstToken(slower)).isCloseTo(slow + STEP_MS, within(0.001));
  }

  @ParameterizedTest
  @CsvSource({
    "--kv-cpu-blocks 9, --host-blocks",
    "--fit rows.csv, --profile",
    "--kv-disk-link 20, --set tiers.disk.link=VALUE",
    "--disk-blocks 9 --set tiers.disk.link=nvme, nvme-gen5",
    "--host-blocks 9 --set hardware.kv-bytes-per-token=llama, llama-3.1-8b"
  })
  void whatIsNoLongerSaidIsAnsweredWithWhatToSay(String options, String answer) throws IOException {
    var output = kvasir(words("simulate " + options + " --trace", trace()));
    assertThat(output.code()).isEqualTo(ExitCode.USAGE);
    assertThat(output.err()).contains(answer);
    assertThat(output.err().lines()).hasSize(1);
  }

  private double lastFirstToken(String options) throws IOException {
    var requests = folder.resolve("requests.jsonl");
    var line =
        "simulate --json --latency-model linear --set hardware.alpha-coeffs=0,0,0"
            + " --set hardware.beta-coeffs=1000,100,100 --set engines.step-tokens-max=8192"
            + " --total-kv-blocks 1000 "
            + options
            + " --trace";
    var run = kvasir(words(line, trace(), "--requests-out", requests));
    assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.OK);
    var last = Spoken.requests(requests).values().stream().toList().getLast();
    return last.path("ttft_us").asDouble() / 1000;
  }

  /** A prompt, as many others as push it out of the engine's memory, and the prompt again. */
  private Path trace() throws IOException {
    var rows = new StringBuilder();
    for (int i = 0; i <= 6; i++) {
      int prompt = i == 6 ? 0 : i;
      var ids = IntStream.range(0, 7).mapToObj(id -> 7 * prompt + id).toList();
      rows.append(
          "{\"timestamp\": %s, \"input_length\": 3584, \"output_length\": 1, \"hash_ids\": %s}\n"
              .formatted(10_000 * i, ids));
    }
    return Files.writeString(folder.resolve("trace.jsonl"), rows);
  }
}
