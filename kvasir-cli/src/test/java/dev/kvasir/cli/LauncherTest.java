package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the launcher in a project of its own, whose java and mvn only tell how they are called. */
final class LauncherTest {
  private static final String[] TOOLS = {
    "readlink",
    "cat",
    "find",
    "touch",
    "mkdir",
    "mv",
    "grep",
    "sed",
    "tail",
    "sleep",
    "tr",
    "date",
    "rm"
  };

  private static final List<String> SCRIPTS =
      List.of("kvasir", "tools/find-jdk", "tools/build-if-stale", "tools/aot-cache");

  /**
   * Prints its arguments, those of files in their place, and makes an AOT cache if that is what it
   * is asked for.
   */
  private static final String JAVA =
      """
      for argument; do
        case $argument in
          -XX:AOTCacheOutput=*) echo rehearsed >"${argument#*=}" ;;
          @*)
            while read -r option; do
              case $option in '' | \\#*) ;; *) printf '<%s>' $option ;; esac
            done <"${argument#@}"
            continue ;;
        esac
        printf '<%s>' "$argument"
      done
      """;

  private static final String MAVEN =
      """
      echo built >>"$BUILDS"
      for argument; do
        case $argument in -Dkvasir.jar=*) new=${argument#*=} ;; esac
      done
      mkdir -p "${new%/*}"
      echo half >"$new"
      sleep "${MAVEN_SLEEP:-0}"
      """;

  @TempDir private Path folder;
  private final LinkedHashMap<String, String> environment = new LinkedHashMap<>();
  private Path project = Path.of("");
  private Path tools = Path.of("");

  @BeforeEach
  void makeAProject() throws IOException {
    project = folder.toRealPath().resolve("a project");
    for (String script : SCRIPTS) Script.copy(script, project);
    Script.copy("packaging/jvm", project);
    Files.createDirectories(project.resolve("kvasir-cli/src/main/java"));
    for (String file : List.of("pom.xml", "kvasir-cli/pom.xml", "kvasir-cli/src/main/java/A")) {
      Files.writeString(project.resolve(file), "");
    }
    tools = Script.gatherTools(folder.resolve("tools"), TOOLS);
    Script.gatherTools(tools, "flock");
    Path jdk = FindJdkTest.fakeJdk(folder.resolve("jdk"), "25", JAVA);
    environment.put("PATH", tools.toString());
    environment.put("KVASIR_JDK_FOLDERS", "");
    environment.put("JAVA25_HOME", jdk.toString());
    environment.put("BUILDS", folder.resolve("builds").toString());
  }

  @Test
  void theFirstUseBuildsWithOneLineOfProgress() throws Exception {
    maven(MAVEN + "echo noise");

    var first = kvasir("doctor", "--json");
    var second = kvasir("doctor", "--json");

    assertThat(first.exit()).isZero();
    assertThat(first.err().lines()).hasSize(1).allMatch(line -> line.contains("building, once"));
    assertThat(first.out()).endsWith("<-jar><" + jar() + "><doctor><--json>");
    assertThat(second).isEqualTo(new Script.Result(0, first.out(), ""));
    assertThat(builds()).isEqualTo(1);
  }

  @Test
  void itWorksFromAnyFolderAndThroughLinksAndKeepsArgumentsWhole() throws Exception {
    maven(MAVEN);
    Path link = Files.createSymbolicLink(folder.resolve("link"), project.resolve("kvasir"));
    Path second = Files.createSymbolicLink(folder.resolve("second"), link.getFileName());
    environment.put("KVASIR_JAVA_OPTS", "-Xmx1g -Dstar=*");

    var result = Script.start(environment, Path.of("/"), second.toString(), "a b", "*").finish();

    assertThat(result.exit()).isZero();
    assertThat(result.out()).endsWith("<-Xmx1g><-Dstar=*><-jar><" + jar() + "><a b><*>");
  }

  @Test
  void aServerThatIsOutOfMemoryEnds() throws Exception {
    maven(MAVEN);
    for (var server : List.of("serve", "picker", "tier", "fleet")) {
      assertThat(kvasir(server).out()).contains("<-XX:+ExitOnOutOfMemoryError><-jar>");
    }
    assertThat(kvasir("simulate").out()).doesNotContain("OutOfMemory");
    environment.put("KVASIR_JAVA_OPTS", "-XX:-ExitOnOutOfMemoryError");
    assertThat(kvasir("serve").out()).contains("<-XX:-ExitOnOutOfMemoryError><-jar>");
  }

  @Test
  void aGatewayTakesLittleMemoryUnlessToldOtherwise() throws Exception {
    maven(MAVEN);
    assertThat(kvasir("serve").out()).contains("<-Xms64m><-XX:NewSize=32m><-XX:MaxNewSize=32m>");
    assertThat(kvasir("simulate").out()).doesNotContain("-Xms64m");
    environment.put("KVASIR_JAVA_OPTS", "-Xmx2g -XX:+UseZGC");
    assertThat(kvasir("serve").out()).doesNotContain("-Xms64m").doesNotContain("UseSerialGC");
  }

  @Test
  void aChangedSourceIsBuiltAgain() throws Exception {
    maven(MAVEN);
    kvasir();
    Instant past = Instant.now().minusSeconds(3600);
    Files.setLastModifiedTime(jar(), FileTime.from(past));

    var result = kvasir();

    assertThat(result.err()).contains("the sources have changed");
    assertThat(kvasir().err()).isEmpty();
    assertThat(builds()).isEqualTo(2);
  }

  @Test
  void aFailedBuildShowsItsLogAndIsNotTakenForTheProduct() throws Exception {
    maven(MAVEN + "echo '[INFO] noise'; echo '[ERROR] the reason'; exit 1");

    var result = kvasir("doctor");

    assertThat(result.exit()).isEqualTo(ExitCode.INTERNAL);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).contains("[ERROR] the reason", project + "/target/kvasir-build.log");
    assertThat(result.err()).doesNotContain("noise");
    assertThat(jar()).doesNotExist();
    maven(MAVEN);
    assertThat(kvasir("doctor").exit()).isZero();
  }

  @Test
  void twoAtTheSameTimeBuildOnce() throws Exception {
    assumeThat(tools.resolve("flock")).exists();
    buildOnceTogether();
  }

  @Test
  void twoAtTheSameTimeBuildOnceWherePerlHasToLock() throws Exception {
    Script.gatherTools(tools, "perl");
    assumeThat(tools.resolve("perl")).exists();
    Files.deleteIfExists(tools.resolve("flock"));
    buildOnceTogether();
  }

  private void buildOnceTogether() throws Exception {
    maven(MAVEN);
    environment.put("MAVEN_SLEEP", "1");
    Files.createDirectories(project.resolve("target"));
    Files.writeString(project.resolve("target/kvasir-build.lock"), "left by one that was killed");

    var one = start("--version");
    var other = start("--version");

    assertThat(one.finish().exit()).isZero();
    assertThat(other.finish().exit()).isZero();
    assertThat(builds()).isEqualTo(1);
  }

  @Test
  void withoutMavenItSaysSo() throws Exception {
    var result = kvasir("doctor");

    assertThat(result.exit()).isEqualTo(ExitCode.UNAVAILABLE);
    assertThat(result.err().lines()).hasSize(1).allMatch(line -> line.contains("needs Maven"));
  }

  @Test
  void withoutAJdkItSaysHowToGetOneAndBuildsNothing() throws Exception {
    maven(MAVEN);
    environment.remove("JAVA25_HOME");

    var result = kvasir("doctor");

    assertThat(result.exit()).isEqualTo(ExitCode.UNAVAILABLE);
    assertThat(result.err()).startsWith("kvasir: needs a JDK 25 or newer");
    assertThat(folder.resolve("builds")).doesNotExist();
  }

  @Test
  void whatIsBuiltRunsOnARuntimeWithoutJavac() throws Exception {
    maven(MAVEN);
    kvasir();
    Files.delete(folder.resolve("jdk/bin/javac"));

    assertThat(kvasir("--version").exit()).isZero();
  }

  @Test
  void whatIsBuiltIsRehearsedOnceForEachJdk() throws Exception {
    maven(MAVEN);
    runtime("25.0.1+8");
    assertThat(kvasir("doctor").out()).contains("<-XX:AOTCache=" + cache("25.0.1+8"));
    runtime("25.0.2+9");
    assertThat(kvasir("doctor").out()).doesNotContain("<-XX:AOTCache");

    var second = kvasir("serve");
    var third = kvasir("serve");

    assertThat(second.err().lines()).hasSize(1).allMatch(line -> line.contains("preparing"));
    assertThat(second.out()).contains("<-XX:AOTCache=" + cache("25.0.2+9"));
    assertThat(third).isEqualTo(new Script.Result(0, second.out(), ""));
    assertThat(cache("25.0.1+8")).doesNotExist();
  }

  @Test
  void aRehearsalThatFailsBreaksNoStart() throws Exception {
    maven(MAVEN);
    runtime("25.0.1+8");
    Path java = folder.resolve("jdk/bin/java");
    Script.executable(java, "case $* in *AOTCacheOutput*) exit 1 ;; esac\n" + JAVA);

    var result = kvasir("serve");

    assertThat(result.exit()).isZero();
    assertThat(result.out()).endsWith("<-jar><" + jar() + "><serve>").doesNotContain("AOTCache");
    assertThat(kvasir("prepare").exit()).isEqualTo(ExitCode.UNAVAILABLE);
  }

  @Test
  void whereNothingCanBeWrittenItStartsWithoutACache() throws Exception {
    maven(MAVEN);
    kvasir("--version");
    runtime("25.0.1+8");
    Path target = jar().resolveSibling(".");
    assumeThat(target.toFile().setWritable(false) && !Files.isWritable(target)).isTrue();

    var bare = kvasir("serve");
    environment.put("XDG_CACHE_HOME", folder.resolve("caches").toString());
    var cached = kvasir("serve");
    assertThat(target.toFile().setWritable(true)).isTrue();

    assertThat(bare.exit()).isZero();
    assertThat(bare.out()).doesNotContain("AOTCache");
    assertThat(cached.out()).contains("<-XX:AOTCache=" + folder.toRealPath() + "/caches/kvasir/");
  }

  /** Gives the JDK a version that tells it from others. */
  private void runtime(String version) throws IOException {
    Path release = folder.resolve("jdk/release");
    Files.writeString(release, "JAVA_VERSION=\"25\"\nJAVA_RUNTIME_VERSION=\"" + version + "\"\n");
  }

  private Path cache(String version) throws IOException {
    long seconds = Files.getLastModifiedTime(jar()).toMillis() / 1_000;
    return jar().resolveSibling("kvasir-" + version + "-" + seconds + ".aot");
  }

  private Script.Result kvasir(String... args) throws Exception {
    return start(args).finish();
  }

  private Script start(String... args) {
    var command = new String[args.length + 1];
    command[0] = project.resolve("kvasir").toString();
    System.arraycopy(args, 0, command, 1, args.length);
    return Script.start(environment, folder, command);
  }

  private void maven(String script) throws IOException {
    Script.executable(tools.resolve("mvn"), script);
  }

  private Path jar() {
    return project.resolve("kvasir-cli/target/kvasir.jar");
  }

  private int builds() throws IOException {
    return Files.readAllLines(folder.resolve("builds")).size();
  }
}
