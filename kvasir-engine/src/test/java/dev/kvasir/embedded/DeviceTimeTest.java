package dev.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.embedded.step.AnswerSteps.DeviceTime;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.model.Architecture;
import dev.kvasir.model.CpuModel;
import dev.kvasir.model.TinyModel;
import dev.kvasir.model.gguf.TensorType;
import dev.kvasir.model.sample.SamplingSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A device that says of every step that it took a nanosecond, and waited for one before. */
final class DeviceTimeTest {
  private static final int ANSWERS = 3;

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource
  void aDeviceIsIdleOnlyWhileSomebodyWaits(PlanningSettings.Mode mode) throws IOException {
    var file =
        new TinyModel(Architecture.LLAMA, 5)
            .writer(TensorType.F32)
            .write(folder.resolve("tiny.gguf"));
    var engine = EngineSettings.of(4, 64).with(PlanningSettings.of(mode));
    var device = new AheadCpuDevice(CpuModel.open(file, 1));
    try (var model = LoadedModel.on(device, file, folder);
        var group = EngineGroup.open(model, EngineGroupSettings.of(1, 32, 0, 0, null, engine))) {
      var first = group.engines().getFirst();
      for (int i = 0; i < ANSWERS; i++) {
        var request =
            new GenerationRequest(
                "r" + i, "", new int[] {3, 4}, 5, 5, SamplingSettings.greedy(), List.of(), 0);
        assertThat(Answers.of(first, List.of(request)).tokens("r" + i)).hasSize(5);
      }
      var time = time(first);
      assertThat(time.computingNanos()).isGreaterThanOrEqualTo(5 * ANSWERS);
      // Nobody waited before the first step of each.
      assertThat(time.idleNanos()).isEqualTo(time.computingNanos() - ANSWERS);
    }
  }

  private static DeviceTime time(EmbeddedEngine engine) {
    var reported = new CompletableFuture<DeviceTime>();
    engine.loop().execute(() -> reported.complete(engine.deviceTime().orElseThrow()));
    return reported.join();
  }
}
