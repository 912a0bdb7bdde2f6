package dev.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.embedded.step.GenerationEnd;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.model.Architecture;
import dev.kvasir.model.CpuModel;
import dev.kvasir.model.TinyModel;
import dev.kvasir.model.gguf.TensorType;
import dev.kvasir.model.sample.SamplingSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Answers whose steps are launched before the tokens of the step before are known. */
class LaunchedAheadTest {
  private static final int[] PROMPT = {3, 4, 5, 6, 7};
  private static final int LONG_TOKENS = 8;
  private static final int SHORT_TOKENS = 3;

  @TempDir private Path folder;

  private AheadCpuDevice device() throws IOException {
    var tiny = new TinyModel(Architecture.LLAMA, 5).writer(TensorType.F32);
    return new AheadCpuDevice(CpuModel.open(tiny.write(folder.resolve("tiny.gguf")), 1));
  }

  private LoadedModel loaded(AheadCpuDevice device) throws IOException {
    return LoadedModel.on(device, folder.resolve("tiny.gguf"), folder);
  }

  private static EngineGroupSettings sizes() {
    return EngineGroupSettings.of(1, 8, 0, 0, null, EngineSettings.of(4, 64));
  }

  private static GenerationRequest request(String id, int tokensMax, String... stops) {
    return new GenerationRequest(
        id, "", PROMPT, 0, tokensMax, SamplingSettings.greedy(), List.of(stops), 0);
  }

  @Test
  void anAnswerThatIsToldAsWholeHasAllItsTokens() throws IOException {
    try (var device = device();
        var model = loaded(device)) {
      for (int good = 0; good <= LONG_TOKENS; good++) {
        try (var group = EngineGroup.open(model, sizes())) {
          device.failAfter(good);
          var requests = List.of(request("long", LONG_TOKENS), request("short", SHORT_TOKENS));
          var answers = Answers.of(group.engines().getFirst(), requests);
          for (var request : requests) {
            if (!(answers.end(request.id()) instanceof GenerationEnd.Full)) continue;
            assertThat(answers.tokens(request.id()))
                .as("%s, after %s good steps", request.id(), good)
                .hasSize(request.tokensMax());
          }
        }
      }
    }
  }

  @Test
  void anAnswerThatStopsGetsNoTokenOfTheStepsThatWereOnTheirWay() throws IOException {
    try (var device = device();
        var model = loaded(device);
        var group = EngineGroup.open(model, sizes())) {
      var engine = group.engines().getFirst();
      var whole = Answers.of(engine, List.of(request("whole", LONG_TOKENS)));
      var before = Answers.of(engine, List.of(request("before", SHORT_TOKENS)));
      var stop = whole.text("whole").substring(before.text("before").length()).substring(0, 1);
      var other = request("other", 2 * LONG_TOKENS);
      var stopped = Answers.of(engine, List.of(request("stopped", LONG_TOKENS, stop), other));
      assertThat(stopped.end("stopped")).isInstanceOf(GenerationEnd.Stopped.class);
      int count = stopped.tokens("stopped").size();
      var shorter = Answers.of(engine, List.of(request("shorter", count - 1)));
      assertThat(stopped.tokens("stopped"))
          .isEqualTo(whole.tokens("whole").subList(0, count))
          .hasSizeLessThan(LONG_TOKENS);
      assertThat(shorter.text("shorter")).doesNotContain(stop);
    }
  }
}
