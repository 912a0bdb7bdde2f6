package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs tools/skipped-tests over reports as Surefire writes them. */
class SkippedTestsTest {
  private static final Path SCRIPT =
      Path.of(System.getProperty("kvasir.root", ".."), "tools", "skipped-tests");

  @TempDir Path folder;

  @Test
  void everyTestThatWasSkippedIsListedWithItsReason() throws Exception {
    report(
        "one/target/surefire-reports/TEST-dev.kvasir.RedisTest.xml",
        """
          <testcase name="a" classname="dev.kvasir.RedisTest" time="0.0">
            <skipped type="org.opentest4j.TestAbortedException"><![CDATA[org.opentest4j.TestAbortedException: Assumption failed: no redis-server: "install" it
        \tat org.junit.jupiter.api.Assumptions.assumeTrue(Assumptions.java:127)
        ]]></skipped>
          </testcase>
          <testcase name="b" classname="dev.kvasir.RedisTest" time="0.288"/>
        """);
    report(
        "two/target/failsafe-reports/TEST-dev.kvasir.ImageIT.xml",
        """
          <testcase name="c" classname="dev.kvasir.ImageIT" time="0.0">
            <skipped message="no engine here"/>
          </testcase>
        """);
    assertThat(list())
        .isEqualTo(
            """
            2 tests were not run:
              no engine here (1: ImageIT)
              no redis-server: "install" it (1: RedisTest)
            """);
  }

  @Test
  void nothingIsSaidWhereAllTestsRan() throws Exception {
    report("one/target/surefire-reports/TEST-a.xml", "<testcase name=\"b\" classname=\"a\"/>\n");
    assertThat(list()).isEmpty();
  }

  private void report(String name, String text) throws Exception {
    var file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private String list() throws Exception {
    var process =
        new ProcessBuilder("sh", SCRIPT.toString(), folder.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    var text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isZero();
    return text;
  }
}
