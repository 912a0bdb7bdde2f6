package dev.kvasir.gpu.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gpu.StubCuda;
import dev.kvasir.gpu.model.GpuShape.Extra;
import dev.kvasir.gpu.model.GpuShape.RopePairs;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("all")
final class KernelCheckTest {
  /** Shapes that differ in all that the kernels are compiled with. */
  private static GpuShape shape(Extra extra) {
    return switch (extra) {
      case NONE ->
          new GpuShape(2, 64, 8, 2, 128, 48, 512, 1024, 1e-5f, 1e4f, RopePairs.NEIGHBOURS, extra);
      case BIAS ->
          new GpuShape(2, 1296, 7, 1, 64, 48, 512, 1024, 1e-6f, 1e4f, RopePairs.HALVES, extra);
      case HEAD_NORM ->
          new GpuShape(2, 256, 4, 2, 32, 48, 512, 1024, 1e-6f, 1e4f, RopePairs.HALVES, extra);
    };
  }

  @ParameterizedTest
  @EnumSource
  void everyKernelComputesWhatPlainJavaDoes(Extra extra) throws IOException {
    var stub = StubCuda.fresh();
    var libraries = stub.libraries();
    var extent =
        new KernelCheck.Extent(
            List.of(1, 16, 17, 300, 520),
            List.of(new int[] {0, 2}, new int[] {0, 64}, new int[] {37, 70}));
    try (var device = stub.device()) {
      var results = KernelCheck.run(device, libraries, shape(extra), extent, 5);
      results.forEach(System.out::println);
      assertThat(results).hasSizeGreaterThan(20).allMatch(KernelCheck.Result::isRight);
      assertThat(device.holdings().isEmpty()).isTrue();
    }
  }
}
