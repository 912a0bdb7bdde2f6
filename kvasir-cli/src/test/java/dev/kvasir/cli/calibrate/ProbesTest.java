package dev.kvasir.cli.calibrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.net.Network;
import dev.kvasir.sim.trace.CaptureReader;
import dev.kvasir.sim.trace.Captured;
import dev.kvasir.sim.trace.TraceInput;
import dev.kvasir.tools.doctor.ReportedKvMemory;
import dev.kvasir.tools.fleet.TestFleet;
import dev.kvasir.tools.load.OpenAiTarget;
import dev.kvasir.tools.load.OpenAiTarget.Lengths;
import dev.kvasir.tools.load.OpenAiTarget.Style;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProbesTest {
  @TempDir private Path folder;

  @Test
  void aServerIsLoadedInFourWays() throws Exception {
    var output = new StringWriter();
    try (var fleet = TestFleet.start(TestFleet.settings(1), () -> Duration.ofMillis(2));
        var network = Network.open(1)) {
      var url = URI.create(fleet.workers().getFirst().url());
      var target = new OpenAiTarget(url, Style.COMPLETIONS, TestFleet.MODEL, null, Lengths.FORCED);
      var memory = ReportedKvMemory.ofAll(List.of(url.toString()), null);
      assertThat(memory).isNotNull();
      var probes =
          new Probes(
              network,
              target,
              Duration.ofSeconds(4),
              512,
              42,
              memory,
              new PrintWriter(output, true));
      assertThat(probes.run(folder))
          .extracting(path -> path.getFileName().toString())
          .containsExactly("alone.jsonl", "decode.jsonl", "crowd.jsonl", "open.jsonl");
    }
    assertThat(output.toString()).contains("alone ", "decode ", "crowd ", "open ");
    var alone = read("alone");
    for (int i = 1; i < alone.size(); i++) {
      // One caller asks after the answer before.
      assertThat(alone.get(i).request().arrivalNanos())
          .isGreaterThanOrEqualTo(end(alone.get(i - 1)) - 1_000);
    }
    assertThat(read("decode"))
        .hasSizeGreaterThanOrEqualTo(16)
        .allMatch(each -> each.request().outputTokens() == 200 && each.cachedTokens() == 0);
    assertThat(read("crowd")).hasSizeGreaterThanOrEqualTo(64);
    var head = Files.readAllLines(folder.resolve("crowd.jsonl")).getFirst();
    assertThat(head).contains("kvasir.deployment.v1", "total-kv-blocks");
  }

  @Test
  void promptsFitIntoTheContext() {
    assertThat(Probes.fitting(4096, 0)).isEqualTo(4096);
    assertThat(Probes.fitting(4096, 131_072)).isEqualTo(4096);
    assertThat(Probes.fitting(4096, 1024)).isEqualTo(549);
    assertThat(Probes.fitting(4096, 64)).isEqualTo(4);
  }

  @Test
  void longerPromptsComeLessOften() {
    // 40 a second of 512 words are 20,480 words; 0.6 of these are 9 a second of 1,360.
    var open = List.of(64, 256, 1024, 4096);
    assertThat(Probes.openRate(40, List.of(512), open)).isCloseTo(9.04, within(0.01));
    assertThat(Probes.openRate(40, List.of(512), List.of(128))).isEqualTo(24);
  }

  private static long end(Captured captured) {
    return captured.request().arrivalNanos() + captured.e2eNanos();
  }

  private List<Captured> read(String name) throws IOException {
    try (var bytes = Files.newInputStream(folder.resolve(name + ".jsonl"))) {
      return CaptureReader.of(new TraceInput(name, bytes)).readAll().requests();
    }
  }
}
