package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs the model in other processes, whose vectors are narrower or missing. */
@Tag("all")
class KernelsTest {
  private static final String MODULE = "--add-modules=jdk.incubator.vector";

  @Test
  void withoutTheVectorModuleItIsSlowerAndTheSame() throws Exception {
    assertThat(child(List.of())).contains("--add-modules jdk.incubator.vector", expected());
  }

  @Test
  void withoutTheGoodCompilerItSaysSo() throws Exception {
    assertThat(child(List.of(MODULE, "-XX:TieredStopAtLevel=1")))
        .contains("-XX:TieredStopAtLevel", expected());
  }

  @Test
  void narrowerVectorsGiveTheSameBits() throws Exception {
    for (int bytes : new int[] {16, 32}) {
      assertThat(child(List.of(MODULE, "-XX:MaxVectorSize=" + bytes)))
          .contains(bytes / 4 + " numbers at once", expected());
    }
  }

  private static String expected() throws IOException {
    return "logits " + KernelsChild.digest(PocketModel.file());
  }

  private static String child(List<String> options) throws IOException, InterruptedException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(KernelsChild.class.getName());
    command.add(PocketModel.file().toString());
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }
}
