package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Profiles on the command line: made from captures, and simulated with. */
@Tag("all")
class CalibrateTest {
  private static final Path PROFILE =
      Path.of(System.getProperty("kvasir.root", ".."))
          .resolve("profiles/h200-vllm-0.26-8b-bf16.json");

  @TempDir private Path folder;

  private Path capture(int requests) throws IOException {
    var lines = new ArrayList<String>();
    lines.add("{\"schema\":\"kvasir.settings.v1\",\"settings\":{\"instances\":\"1\"}}");
    for (int i = 0; i < requests; i++) {
      lines.add(
          ("{\"schema\":\"kvasir.capture.v1\",\"id\":\"r%d\",\"arrival_us\":%d,"
                  + "\"prompt_tokens\":%d,\"output_tokens\":8,\"instance\":\"gpu0\","
                  + "\"ttft_us\":%d,\"e2e_us\":%d,\"cached_tokens\":0}")
              .formatted(i, 300_000L * i, 50 + 9 * i, 60_000 + 40 * i, 100_000 + 40 * i));
    }
    return Files.write(folder.resolve("capture.jsonl"), lines);
  }

  @Test
  void aProfileIsWrittenAndTheSimulatorTakesIt() throws IOException {
    var profile = folder.resolve("profile.json");
    var page = folder.resolve("page.html");
    var words = Spoken.words("calibrate", capture(24), "--out", profile, "--report", page);
    words.addAll(List.of("--hardware", "H200"));
    var spoken = Spoken.kvasir(words);
    assertThat(spoken.code()).as(spoken.err()).isZero();
    assertThat(spoken.out()).contains("TTFT p50", "launch_us", "profile     " + profile);
    assertThat(spoken.err()).contains("only 24 requests, which count less");
    assertThat(Spoken.read(profile).path("captures").path(0).path("sha256").asString()).hasSize(64);
    assertThat(Files.readString(page)).contains("Predicted against measured");
    var validated =
        Spoken.kvasir(
            Spoken.words("simulate --json --validate", capture(24), "--profile", profile));
    var json = validated.json();
    assertThat(json.path("requests").asInt()).isEqualTo(24);
    assertThat(json.path("ttft").path("requests").asInt()).isEqualTo(24);
    assertThat(Math.abs(json.path("e2e").path("median_error").asDouble())).isLessThan(0.2);
    assertThat(json.path("intervals_ms").path("ttft_p50").size()).isEqualTo(2);
  }

  @Test
  void whatIsToBeCalibratedMustBeSaid() {
    assertThat(Spoken.kvasir(Spoken.words("calibrate --out x.json")).err())
        .contains("give captures, or --url for a server to load");
    var soon = "calibrate --url http://127.0.0.1:1 --out x.json --budget soon";
    assertThat(Spoken.kvasir(Spoken.words(soon)).err()).contains("write a time, as in 120s");
    var minute = "calibrate --url http://127.0.0.1:1 --out x.json --budget 1m";
    var nobody = Spoken.kvasir(Spoken.words(minute));
    assertThat(nobody.code()).isEqualTo(ExitCode.UNAVAILABLE);
    assertThat(nobody.err()).contains("nothing listens at http://127.0.0.1:1");
    for (var words : List.of("calibrate x", "calibrate x --out y --leave-out 1")) {
      assertThat(Spoken.kvasir(Spoken.words(words)).err()).contains("give --out for a profile, or");
    }
  }

  @Test
  void aCaptureIsJudgedByAProfileOfOthers() throws IOException {
    var words = Spoken.words("calibrate", capture(24), "--predict", capture(24));
    words.addAll(List.of("--hardware", "H200"));
    var spoken = Spoken.kvasir(words);
    assertThat(spoken.code()).as(spoken.err()).isZero();
    assertThat(spoken.out()).contains("calibrated on", "TTFT p50", "median", "worst");
    words.addAll(List.of("--leave-out", "1"));
    assertThat(Spoken.kvasir(words).err()).contains("cannot leave 1 of 1 captures out");
    var many = Spoken.words("calibrate --leave-out 1");
    for (int i = 0; i < 13; i++) many.add(capture(24).toString());
    assertThat(Spoken.kvasir(many).err()).contains("13 captures, expected at most 12");
  }

  @Test
  void figuresOfAProfileComeWithTheirIntervals() throws IOException {
    var workload =
        Files.writeString(
            folder.resolve("workload.yaml"),
            "seed: 1\nrequests: 30\nrate: 8\nclients:\n  - {id: a, input: 300, output: 20}\n");
    var words = Spoken.words("simulate --workload", workload, "--profile", PROFILE);
    var spoken = Spoken.kvasir(words);
    assertThat(spoken.code()).as(spoken.err()).isZero();
    assertThat(spoken.out()).contains("nine times of ten", "TTFT p90", "E2E p50");
    assertThat(Spoken.kvasir(words).out()).isEqualTo(spoken.out());
    words.addAll(List.of("--sweep", "engines.count=1,2"));
    var sweep = Spoken.kvasir(words);
    assertThat(sweep.code()).as(sweep.err()).isZero();
    words.set(words.size() - 1, "engines.eviction=lru,fifo");
    assertThat(Spoken.kvasir(words).code()).isEqualTo(ExitCode.OK);
  }

  @Test
  void aRecordedRunIsForetold() {
    var recorded = Shared.path("oracle/vllm-h200/rate2.capture.jsonl.gz");
    var words = Spoken.words("simulate --json --validate", recorded, "--profile", PROFILE);
    var json = Spoken.kvasir(words).json();
    assertThat(Math.abs(json.path("ttft").path("median_error").asDouble())).isLessThan(0.12);
    assertThat(Math.abs(json.path("e2e").path("median_error").asDouble())).isLessThan(0.06);
  }

  @Test
  void whatCannotBeFittedIsSaid() throws IOException {
    var out = folder.resolve("profile.json");
    var few = Spoken.kvasir(Spoken.words("calibrate", capture(5), "--out", out));
    assertThat(few.code()).isEqualTo(ExitCode.DATA);
    assertThat(few.err()).contains("5 answered requests are too few");
    var missing = Spoken.kvasir(Spoken.words("calibrate", folder.resolve("x"), "--out", out));
    assertThat(missing.code()).isEqualTo(ExitCode.DATA);
    assertThat(missing.err()).contains("there is no file");
    var gpu =
        Spoken.kvasir(Spoken.words("calibrate", capture(24), "--out", out, "--hardware", "X1"));
    assertThat(gpu.err()).contains("no GPU named X1");
    assertThat(out).doesNotExist();
    var profile = Files.writeString(folder.resolve("bad.json"), "{}");
    var bad = Spoken.kvasir(Spoken.words("simulate --trace", capture(24), "--profile", profile));
    assertThat(bad.code()).isEqualTo(ExitCode.DATA);
    assertThat(bad.err()).contains("bad.json: schema is ''");
  }
}
