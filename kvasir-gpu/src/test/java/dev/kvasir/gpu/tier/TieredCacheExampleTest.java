package dev.kvasir.gpu.tier;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example runs as its first lines say, with the two modules it names and nothing else. */
@Tag("all")
class TieredCacheExampleTest {
  private static final Path ROOT = Path.of(System.getProperty("kvasir.root", ".."));

  @Test
  @Timeout(180)
  void aPromptsBlocksLeaveTheTopAndComeBack(@TempDir Path folder) throws Exception {
    var lines = run(folder.resolve("disk"));
    assertThat(lines).contains("sent down: 2 blocks");
    assertThat(lines.getLast())
        .isIn("back on HOST from [DISK, DISK]", "back on DEVICE from [HOST, HOST]");
  }

  private static List<String> run(Path folder) throws Exception {
    var classes =
        String.join(
            ":",
            ROOT.resolve("kvasir-core/target/classes").toString(),
            ROOT.resolve("kvasir-net/target/classes").toString(),
            ROOT.resolve("kvasir-tiers/target/classes").toString(),
            ROOT.resolve("kvasir-gpu/target/classes").toString());
    var command =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            classes,
            ROOT.resolve("examples/TieredCache.java").toString(),
            folder.toString());
    command.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
    var process = command.redirectErrorStream(true).start();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output.lines().toList();
  }
}
