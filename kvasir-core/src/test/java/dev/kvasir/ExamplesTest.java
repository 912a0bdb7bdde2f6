package dev.kvasir;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples run as their first lines say, with nothing but this module on the class path. */
class ExamplesTest {
  private static final Path ROOT = Path.of(System.getProperty("kvasir.root", ".."));
  private static final Path BLOCKS = ROOT.resolve("examples/Blocks.java");
  private static final int LINES_MAX = 40;

  @Test
  @Timeout(180)
  void blocksThatBeginAlikeAreComputedOnceForEachTenant() throws Exception {
    assertThat(run(BLOCKS))
        .containsExactly(
            "10 tokens: found 0 blocks, compute 10",
            "  released: 2 blocks cached, 6 free",
            "12 tokens: found 2 blocks, compute 4",
            "  released: 3 blocks cached, 5 free",
            "10 tokens: found 0 blocks, compute 10",
            "  released: 5 blocks cached, 3 free");
  }

  @Test
  void theExampleFitsOnAPage() throws IOException {
    assertThat(Files.readAllLines(BLOCKS)).hasSizeLessThanOrEqualTo(LINES_MAX);
  }

  @Test
  void thePageShowsWhatTheExampleRuns() throws IOException {
    var page = Files.readString(ROOT.resolve("docs/library.md"));
    var shown = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(page);
    assertThat(shown.find()).isTrue();
    assertThat(Files.readString(BLOCKS).replace("\n  ", "\n")).contains(shown.group(1));
  }

  private static List<String> run(Path example) throws Exception {
    var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    var classes = ROOT.resolve("kvasir-core/target/classes").toString();
    var command = new ProcessBuilder(java, "-cp", classes, example.toString());
    command.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
    var process = command.redirectErrorStream(true).start();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output.lines().toList();
  }
}
