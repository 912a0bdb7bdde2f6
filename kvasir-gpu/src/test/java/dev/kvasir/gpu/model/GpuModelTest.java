package dev.kvasir.gpu.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gpu.StubCuda;
import dev.kvasir.model.BuiltInModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("all")
final class GpuModelTest {
  private static final int SCALE = Integer.getInteger("kvasir.scale", 1);

  @TempDir Path folder;

  @Test
  void theBuiltInModelAnswersAsOnTheProcessor() throws IOException {
    var stub = StubCuda.fresh();
    var libraries = stub.libraries();
    var file = BuiltInModel.file(folder);
    var lines = new ArrayList<String>();
    try (var device = stub.device()) {
      try (var check =
          new ModelCheck(device, libraries, file, folder.resolve("kernels"), lines::add)) {
        assertThat(check.run(2, SCALE == 1 ? List.of(3) : List.of(1, 3))).as("%s", lines).isEmpty();
      }
      assertThat(device.holdings().isEmpty()).isTrue();
    }
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }
}
