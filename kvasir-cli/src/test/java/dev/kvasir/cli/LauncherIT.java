package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/**
 * Runs the launcher on the jar that was just built. Both are copied to a place without sources and
 * without mvn, so that a source saved meanwhile does not make the launcher build.
 */
final class LauncherIT {
  private static final String JAR = "kvasir-cli/target/kvasir.jar";

  @TempDir private Path folder;
  private final LinkedHashMap<String, String> environment = new LinkedHashMap<>();

  @BeforeEach
  void copyWhatWasBuilt() throws IOException {
    for (var file : List.of("kvasir", "tools/find-jdk", "tools/aot-cache", "packaging/jvm", JAR)) {
      Script.copy(file, folder);
    }
    Path tools =
        Script.gatherTools(
            folder.resolve("programs"), "readlink", "cat", "find", "mkdir", "tr", "date");
    environment.put("PATH", tools.toString());
    environment.put("JAVA25_HOME", System.getProperty("java.home", ""));
  }

  @Test
  void helpAndVersionAreAnsweredQuietly() throws Exception {
    var help = kvasir("--help");
    var version = kvasir("--version");

    assertThat(help.exit()).isZero();
    assertThat(help.out()).contains("Commands:", "doctor");
    assertThat(help.err()).isEmpty();
    assertThat(version.exit()).isZero();
    assertThat(version.out())
        .containsPattern("^kvasir [0-9]+\\.[0-9]+")
        .contains("JDK " + Runtime.version());
    assertThat(version.err()).isEmpty();
  }

  @Test
  void doctorWritesJsonThatCanBeReadBack() throws Exception {
    var result = kvasir("doctor", "--json", "--cache-dir", folder.toString());

    assertThat(result.exit()).isZero();
    assertThat(result.err()).isEmpty();
    var report = JsonMapper.shared().readTree(result.out());
    assertThat(report.get("kvasir").asString()).isNotEqualTo("unpackaged");
    assertThat(report.at("/checks/0/status").asString()).isEqualTo("ok");
  }

  @Test
  void coloursAreOnlyForTerminals() throws Exception {
    assertThat(kvasir("doctor").out()).doesNotContain("\u001b");

    environment.put("CLICOLOR_FORCE", "1");
    assertThat(kvasir("doctor").out()).contains("\u001b");
  }

  @Test
  void aBadCommandEndsWithTheCodeForUsage() throws Exception {
    var result = kvasir("doctro");

    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err().lines()).hasSize(1);
    assertThat(result.err()).contains("did you mean 'doctor'?");
  }

  @Test
  void underAnOlderJavaTheJarSaysWhatItNeeds() throws Exception {
    Optional<Path> java = olderJava();
    assumeTrue(java.isPresent(), "no older Java to try the jar with");

    String jar = folder.resolve(JAR).toString();
    var result =
        Script.start(environment, folder, java.orElseThrow().toString(), "-jar", jar).finish();

    assertThat(result.exit()).isEqualTo(ExitCode.UNAVAILABLE);
    assertThat(result.err().lines()).hasSize(1);
    assertThat(result.err()).startsWith("kvasir: needs Java 25 or newer, but this is Java ");
  }

  private Script.Result kvasir(String... args) throws Exception {
    var command = new String[args.length + 1];
    command[0] = folder.resolve("kvasir").toString();
    System.arraycopy(args, 0, command, 1, args.length);
    return Script.start(environment, folder, command).finish();
  }

  private static Optional<Path> olderJava() throws IOException {
    Path folder = Path.of("/usr/lib/jvm");
    if (!Files.isDirectory(folder)) {
      return Optional.empty();
    }
    try (var homes = Files.list(folder)) {
      return homes
          .filter(home -> home.getFileName().toString().matches(".*[^0-9](17|21)[^0-9].*"))
          .map(home -> home.resolve("bin/java"))
          .filter(Files::isExecutable)
          .sorted()
          .findFirst();
    }
  }
}
