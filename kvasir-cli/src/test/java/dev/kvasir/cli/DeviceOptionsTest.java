package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.process.ExitCode;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what serve refuses before it serves anything, on a processor. */
final class DeviceOptionsTest {
  @TempDir Path folder;

  private Spoken serve(String... more) {
    return Spoken.kvasir(
        Spoken.words(
            "serve --port 0 --admin-port 0 --device cpu --cache-dir " + folder, (Object[]) more));
  }

  @Test
  void aFolderOfSafetensorsNeedsAGpu() {
    var spoken = serve("--model", folder.toString());
    assertThat(spoken.code()).isNotEqualTo(ExitCode.OK);
    assertThat(spoken.err()).contains("on a GPU alone").contains("use a GGUF file");
  }

  @Test
  void soDoMadeUpWeights() {
    var spoken = serve("--load-format", "dummy");
    assertThat(spoken.code()).isNotEqualTo(ExitCode.OK);
    assertThat(spoken.err()).contains("engines.load-format dummy").contains("only on a GPU");
  }

  @Test
  void anUnknownFormatIsRefusedByName() {
    var spoken = serve("--load-format", "random");
    assertThat(spoken.code()).isNotEqualTo(ExitCode.OK);
    assertThat(spoken.err()).contains("load-format").contains("auto").contains("dummy");
  }
}
