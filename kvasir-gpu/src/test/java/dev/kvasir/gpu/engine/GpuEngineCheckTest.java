package dev.kvasir.gpu.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.StubCuda;
import dev.kvasir.gpu.model.GpuShape;
import dev.kvasir.gpu.model.GpuShape.Extra;
import dev.kvasir.gpu.model.GpuShape.RopePairs;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the check of the engine on a card with the stand-in. */
@Tag("all")
final class GpuEngineCheckTest {
  private static final int SCALE = Integer.getInteger("kvasir.scale", 1);

  @TempDir Path folder;

  private static CudaAnswer.Answered ready(StubCuda stub) {
    if (stub.probe() instanceof CudaAnswer.Answered ready) return ready;
    throw new AssertionError("the stand-in does not answer");
  }

  @Test
  void enginesAnswerAsOnTheProcessorInEveryMode() throws IOException {
    var stub = StubCuda.fresh();
    var check = new EngineCheck(ready(stub), stub.libraries(), folder, System.out::println);
    var prompts = List.of(new int[] {1, 1318, 1385, 201, 3885}, new int[] {1, 1318, 1385, 201});
    assertThat(check.answers(2, 3, 8, prompts)).isEmpty();
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }

  @Test
  void whatAFailedStepWasToComputeIsFoundByNobody() throws IOException {
    var stub = StubCuda.fresh();
    var check = new EngineCheck(ready(stub), stub.libraries(), folder, System.out::println);
    var prompts = List.of(new int[] {1, 1318, 1385, 201, 3885}, new int[] {1, 1318, 1385, 201});
    var requests = EngineCheck.requests(1, 2, prompts);
    assertThat(check.failed(FailingDevice.Place.LAUNCH, 0, requests)).isEmpty();
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }

  @Test
  void whatIsFoundBelowAnswersAsItDidOnTheGpu() throws IOException {
    var stub = StubCuda.fresh();
    var shape =
        new GpuShape(
            2, 64, 2, 1, 32, 128, 4096, 2_048, 1e-5f, 10_000, RopePairs.HALVES, Extra.NONE);
    var tiers = new TierSpeed(ready(stub), stub.libraries(), folder, System.out::println);
    assertThat(tiers.run(shape, SCALE == 1 ? 320 : 640)).isEmpty();
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }

  @Test
  void nothingIsLostUnderLoad() throws IOException {
    var stub = StubCuda.fresh();
    var load = new EngineLoad(ready(stub), stub.libraries(), folder, System.out::println);
    var prompts = List.of(new int[] {1, 1318, 1385, 201, 3885}, new int[] {1, 1318, 1385, 201});
    var size = new EngineLoad.Size(3, 5);
    assertThat(load.run(size, Duration.ofSeconds(1), prompts)).isEmpty();
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }
}
