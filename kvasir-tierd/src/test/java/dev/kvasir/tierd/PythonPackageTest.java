package dev.kvasir.tierd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs the tests of the Python package that need no vLLM, against the daemon as it is built. */
@Timeout(300)
@Tag("all")
class PythonPackageTest {
  private static final Path PACKAGE =
      Path.of(System.getProperty("kvasir.root", ".."), "python", "kvasir-vllm");

  @TempDir Path temp;

  @Test
  void thePackageForVllmPassesItsOwnTests() throws Exception {
    if (run(List.of("python3", "-c", "import pytest")) != 0) {
      abort("there is no python3 with pytest here");
    }
    int code = run(List.of("python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"));
    var output = Files.readString(temp.resolve("said"));
    assertThat(code).as(output).isZero();
    assertThat(output).contains(" passed").doesNotContain("skipped");
  }

  private int run(List<String> command) throws IOException, InterruptedException {
    var builder = new ProcessBuilder(command).directory(PACKAGE.toFile());
    var daemon = new ArrayList<String>();
    for (var word : TierChild.command()) daemon.add("'" + word + "'");
    builder.environment().put("KVASIR_TIER_DAEMON", String.join(" ", daemon));
    builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
    builder.redirectErrorStream(true).redirectOutput(temp.resolve("said").toFile());
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      Files.writeString(temp.resolve("said"), String.valueOf(e.getMessage()), UTF_8);
      return 127;
    }
    if (!process.waitFor(240, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError(Files.readString(temp.resolve("said")));
    }
    return process.exitValue();
  }
}
