package dev.kvasir.gpu.tier;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GpuCheckTest {
  @TempDir private Path folder;

  @Test
  void aCheckThatCannotBeMadeSaysWhy() throws IOException, InterruptedException {
    var process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                GpuCheck.class.getName(),
                folder.resolve("absent").toString(),
                folder.resolve("result").toString(),
                "chain",
                "1",
                "1",
                "")
            .redirectErrorStream(true)
            .start();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isEqualTo(GpuCheck.FAILED);
    assertThat(output).contains("NoSuchFileException", "absent");
  }
}
