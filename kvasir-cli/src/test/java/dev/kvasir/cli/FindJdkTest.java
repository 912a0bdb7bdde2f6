package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs tools/find-jdk where there are only the JDKs that a test puts there. */
final class FindJdkTest {
  @TempDir private Path folder;
  private final LinkedHashMap<String, String> environment = new LinkedHashMap<>();

  @BeforeEach
  void hideTheJdksOfThisMachine() throws IOException {
    Path tools = Script.gatherTools(folder.resolve("tools"), "readlink", "cat");
    environment.put("PATH", tools.toString());
    environment.put("KVASIR_JDK_FOLDERS", folder.resolve("no jvm") + ":" + folder.resolve("j v m"));
  }

  @Test
  void withoutAJdkItSaysHowToGetOne() throws Exception {
    var result = findJdk();

    assertThat(result.exit()).isEqualTo(ExitCode.UNAVAILABLE);
    assertThat(result.out()).isEmpty();
    assertThat(result.err().lines().findFirst())
        .hasValueSatisfying(line -> assertThat(line).startsWith("kvasir: needs a JDK 25 or newer"));
    assertThat(result.err()).contains("apt install", "JAVA25_HOME=");
  }

  @Test
  void itFindsOneInAFolderWithSpacesInItsName() throws Exception {
    jdk("j v m/jdk-17", "17.0.15");
    Path found = jdk("j v m/my jdk", "25.0.3");

    assertThat(findJdk()).isEqualTo(new Script.Result(0, found + "\n", ""));
  }

  @Test
  void oneOfTheVersionBuiltForIsPreferredToANewerOne() throws Exception {
    jdk("j v m/a-jdk-26", "26");
    Path found = jdk("j v m/jdk-25", "25");

    assertThat(findJdk().out()).isEqualTo(found + "\n");
  }

  @Test
  void aNewerOneWillDoAndAnOlderOneWillNot() throws Exception {
    jdk("j v m/jdk-8", "1.8.0_392");
    jdk("j v m/jdk-24", "24.0.2");
    Path found = jdk("j v m/jdk-27", "27-ea");

    assertThat(findJdk().out()).isEqualTo(found + "\n");
  }

  @Test
  void theVariablesGoBeforeThePathAndThePathBeforeTheFolders() throws Exception {
    jdk("j v m/jdk-25", "25");
    Path onThePath = jdk("on the path", "25");
    Files.createSymbolicLink(folder.resolve("tools/java"), onThePath.resolve("bin/java"));
    assertThat(findJdk().out()).isEqualTo(onThePath + "\n");

    environment.put("JAVA_HOME", jdk("java home", "25").toString());
    assertThat(findJdk().out()).isEqualTo(folder.resolve("java home") + "\n");

    environment.put("JAVA25_HOME", jdk("java 25 home", "25").toString());
    assertThat(findJdk().out()).isEqualTo(folder.resolve("java 25 home") + "\n");
  }

  @Test
  void aVariableThatNamesNoJdkIsSaidAndOthersAreLookedFor() throws Exception {
    Path found = jdk("j v m/jdk-25", "25");
    environment.put("JAVA25_HOME", "/no such\nfolder");

    var result = findJdk();

    assertThat(result.exit()).isZero();
    assertThat(result.out()).isEqualTo(found + "\n");
    assertThat(result.err()).contains("JAVA25_HOME is /no such", "no JDK 25 or newer");
  }

  @Test
  void aRuntimeWithoutJavacRunsButDoesNotBuild() throws Exception {
    Path runtime = jdk("j v m/jre-25", "25");
    Files.delete(runtime.resolve("bin/javac"));

    assertThat(findJdk("run").out()).isEqualTo(runtime + "\n");
    assertThat(findJdk().exit()).isEqualTo(ExitCode.UNAVAILABLE);
    assertThat(findJdk().err()).contains(runtime + " can run Kvasir, but has no javac");
  }

  @Test
  void withoutAReleaseFileItAsksTheJavaItself() throws Exception {
    Path found = jdk("j v m/jdk", "");
    Files.delete(found.resolve("release"));
    Script.executable(
        found.resolve("bin/java"), "echo 'openjdk version \"25.0.1\" 2025-10-21' >&2");

    assertThat(findJdk().out()).isEqualTo(found + "\n");
  }

  @Test
  void theUsualFoldersAreLookedAtWithoutAHomeToo() throws Exception {
    environment.remove("KVASIR_JDK_FOLDERS");

    assertThat(findJdk().exit()).isIn(0, ExitCode.UNAVAILABLE);
    assertThat(findJdk().err()).doesNotContain("HOME: ");
  }

  private Script.Result findJdk(String... args) throws Exception {
    var command = new String[args.length + 1];
    command[0] = Script.projectRoot().resolve("tools/find-jdk").toString();
    System.arraycopy(args, 0, command, 1, args.length);
    return Script.start(environment, folder, command).finish();
  }

  private Path jdk(String name, String version) throws IOException {
    return fakeJdk(folder.resolve(name), version, "exit 1");
  }

  /** Makes a folder that looks like a JDK from the outside; its java is a shell script. */
  static Path fakeJdk(Path home, String version, String java) throws IOException {
    Files.createDirectories(home.resolve("bin"));
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
    Script.executable(home.resolve("bin/java"), java);
    Script.executable(home.resolve("bin/javac"), "exit 1");
    return home.toRealPath();
  }
}
