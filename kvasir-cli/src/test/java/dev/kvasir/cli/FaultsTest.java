package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Holds the faults of tools/faults against the code and the tests, without planting them. */
final class FaultsTest {
  private static final String SOURCE = "kvasir-core/src/main/java/Rate.java";
  private static final String TEST = "kvasir-core/src/test/java/RateTest.java";

  @TempDir private Path folder;

  @Test
  void everyFaultFitsTheCodeAsItIs() throws Exception {
    assertThat(read(Script.projectRoot())).isEqualTo(new Script.Result(0, "", ""));
  }

  @Test
  void aFaultThatDoesNotFitIsNamedWithItsFileAndWhatToDo() throws Exception {
    write(SOURCE, "int once = 1;\nint twice;\nint twice;\n");
    write(TEST, "final class RateTest {\n\n@Test void holds() {}\n}\n");
    fault("fits", "RateTest.holds", SOURCE, "int once = 1;", "int once = 2;");
    fault("moved", "RateTest.holds", SOURCE, "int gone;", "");
    fault("many", "RateTest.holds", SOURCE, "int twice;", "");
    fault("same", "RateTest.holds", SOURCE, "int once = 1;", "int once = 1;");
    fault("unfiled", "RateTest.holds", "Gone.java", "int once = 1;", "");
    fault("untested", "GoneTest", SOURCE, "int once = 1;", "");
    fault("unnamed", "RateTest.isGone", SOURCE, "int once = 1;", "");
    write("tools/faults/cut.fault", "fault: ?\ntest: RateTest\nfile: " + SOURCE + "\n<<<<\nint\n");

    var result = read(folder);

    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.out().lines())
        .contains(
            misfit("moved", SOURCE + " must hold this text once, and does not:"),
            "int gone;",
            misfit("many", SOURCE + " must hold this text once, and does more often:"),
            misfit("same", "it changes nothing in " + SOURCE + ":"),
            misfit("unfiled", "there is no file Gone.java"),
            misfit("untested", "there is no test GoneTest"),
            misfit("unnamed", "there is no test RateTest.isGone"),
            misfit("cut", "it needs fault:, test:, file: and whole changes"));
    assertThat(result.out())
        .contains("Faults that do not fit the code: 7.", "tools/prove-checks --faults NAME")
        .doesNotContain("fits.fault");
  }

  @Test
  void threeQuartersOfTheFaultsMustBeFoundWithoutSlowTests() throws Exception {
    write(SOURCE, "int once = 1;\n");
    write(
        TEST,
        "final class RateTest {\n\n@Test void holds() {}\n\n@Tag(\"all\") @Test void runs() {}\n}");
    fault("quick", "RateTest.holds", SOURCE, "int once = 1;", "int once = 2;");
    assertThat(read(folder).exit()).isZero();

    fault("slow", "RateTest.runs", SOURCE, "int once = 1;", "int once = 3;");

    assertThat(read(folder).exit()).isEqualTo(1);
    assertThat(read(folder).out()).contains("Of 2 faults, mvn verify finds 1");
  }

  private static String misfit(String name, String why) {
    return "tools/faults/" + name + ".fault does not fit the code: " + why;
  }

  private void fault(String name, String test, String file, String before, String after)
      throws Exception {
    write(
        "tools/faults/" + name + ".fault",
        """
        fault: something is wrong
        test: %s
        file: %s
        <<<<
        %s
        ====
        %s
        >>>>
        """
            .formatted(test, file, before, after));
  }

  private void write(String file, String text) throws Exception {
    Files.createDirectories(folder.resolve(file).getParent());
    Files.writeString(folder.resolve(file), text);
  }

  private static Script.Result read(Path root) throws Exception {
    return Script.start(
            new LinkedHashMap<>(),
            Script.projectRoot(),
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "tools/ProveFaults.java",
            root.toString())
        .finish();
  }
}
