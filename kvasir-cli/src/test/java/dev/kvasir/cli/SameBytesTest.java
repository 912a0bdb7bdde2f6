package dev.kvasir.cli;

import static dev.kvasir.cli.Spoken.kvasir;
import static dev.kvasir.cli.Spoken.words;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.kv.name.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that output that is compared with figures of others stays the same, byte for byte. */
class SameBytesTest {
  private static final String WORKLOAD =
      """
      seed: 42
      requests: 200
      rate: 20
      clients:
        - {id: chat, input: 512, output: 64}
      """;

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({
    "round-robin, 9e33108e222a9e39",
    "weighted, cc14f01743024de8",
    "least-loaded, dfd91d4a970c67f2"
  })
  void runsLikeBlisAre(String routing, String digest) throws IOException {
    var workload = Files.writeString(folder.resolve("workload.yaml"), WORKLOAD);
    var requests = folder.resolve("requests.jsonl");
    var line = "simulate --compat blis --num-instances 3 --total-kv-blocks 600 --json";
    var options = words(line, "--routing-policy", routing, "--results-path", requests);
    options.addAll(words("--workload", workload));
    assertThat(digest(output(options) + Files.readString(requests))).isEqualTo(digest);
  }

  @Test
  void replaysOfACacheAloneAre() {
    var line = "simulate --cache-only --eviction lru --total-kv-blocks 500 --json --trace";
    var trace = Script.projectRoot().resolve("examples/documents.jsonl");
    assertThat(digest(output(words(line, trace)))).isEqualTo("693fe410cf1cf9f6");
  }

  private static String output(List<String> words) {
    var run = kvasir(words);
    assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.OK);
    return run.out();
  }

  private static String digest(String text) {
    return Sha256.hex(text.getBytes(UTF_8)).substring(0, 16);
  }
}
