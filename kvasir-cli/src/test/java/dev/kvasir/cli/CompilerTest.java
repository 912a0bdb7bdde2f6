package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs tools/javac as the build does, on files of one line. */
final class CompilerTest {
  @TempDir private Path folder;
  private final LinkedHashMap<String, String> environment = new LinkedHashMap<>();
  private Path server;

  @BeforeEach
  void nameABuild() {
    environment.put("PATH", System.getenv("PATH"));
    environment.put("JAVA25_HOME", System.getProperty("java.home"));
    String build = folder.getFileName().toString().replaceAll("[^A-Za-z0-9]", "");
    server = Script.projectRoot().resolve("target/javac").resolve(build).resolve("server");
  }

  @AfterEach
  void endItsProcess() throws Exception {
    if (Files.exists(server)) process().ifPresent(ProcessHandle::destroy);
  }

  @Test
  void oneProcessCompilesWhatABuildHas() throws Exception {
    assertThat(compile("Good", "class Good {}")).isEqualTo(new Script.Result(0, "", ""));
    assertThat(folder.resolve("Good.class")).exists();
    var first = process();

    var bad = compile("Bad", "class Bad { int one = \"1\"; }");

    assertThat(bad.exit()).isEqualTo(1);
    assertThat(bad.err()).contains("Bad.java:1: error: incompatible types");
    assertThat(process()).isEqualTo(first).isPresent();
  }

  @Test
  void javacItselfCompilesWhatItsProcessDoesNotAnswer() throws Exception {
    Path jdk = FindJdkTest.fakeJdk(folder.resolve("jdk"), "25", "exit 1");
    Script.executable(jdk.resolve("bin/javac"), "echo itself; exit 3");
    environment.put("JAVA25_HOME", jdk.toString());

    assertThat(compile("Good", "class Good {}")).isEqualTo(new Script.Result(3, "itself\n", ""));
  }

  private Optional<ProcessHandle> process() throws IOException {
    return ProcessHandle.of(Long.parseLong(Files.readString(server).strip()));
  }

  private Script.Result compile(String name, String source) throws Exception {
    Path file = Files.writeString(folder.resolve(name + ".java"), source);
    Path arguments = folder.resolve(name + ".args");
    Files.writeString(arguments, "\"-d\"\n\"" + folder + "\"\n\"" + file + "\"\n");
    return Script.start(
            environment,
            folder,
            Script.projectRoot().resolve("tools/javac").toString(),
            "-J-XX:TieredStopAtLevel=1",
            "-J-XX:+UseSerialGC",
            "-J-Dkvasir.build=" + folder.getFileName(),
            "@" + arguments)
        .finish();
  }
}
