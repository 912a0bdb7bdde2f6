package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.config.GivenOptions;
import dev.kvasir.cli.settings.Configuration;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Compares the files in packaging with what the product understands. */
class PackagingTest {
  private static final Path FOLDER = Path.of(System.getProperty("kvasir.root", ".."), "packaging");
  private static final Pattern COMMAND = Pattern.compile("(?m)^[^#\\n]*\\bserve\\b(.*)$");
  private static final Pattern OPTION = Pattern.compile("--[a-z][a-z-]*");
  private static final Pattern PORT =
      Pattern.compile("(?:--port[\", ]+|EXPOSE |ontainerPort: |\\bport: )(\\d+)");

  @Test
  void optionsOfTheJvmAreExplainedAndNoneIsDiagnostic() throws IOException {
    try (var files = Files.list(FOLDER.resolve("jvm"))) {
      for (var file : files.toList()) {
        assertThat(Files.readString(file))
            .as(file.toString())
            .startsWith("# ")
            .doesNotContain("UnlockDiagnosticVMOptions", "UnlockExperimentalVMOptions");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"Dockerfile", "kvasir.service", "kubernetes.yaml", "kustomize/gateway.yaml"})
  void optionsAreThoseOfTheCommand(String file) throws IOException {
    var command = COMMAND.matcher(read(file));
    assertThat(command.find()).as("a command in " + file).isTrue();
    var serve = Objects.requireNonNull(line().getSubcommands().get("serve"), "no command serve");
    var options = OPTION.matcher(command.group(1)).results().map(MatchResult::group).toList();
    assertThat(options).as(file).isNotEmpty();
    assertThat(serve.getCommandSpec().optionsMap().keySet()).as(file).containsAll(options);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"Dockerfile", "kvasir.service", "kubernetes.yaml", "kustomize/gateway.yaml"})
  void allSpeakOfTheSamePort(String file) throws IOException {
    var ports = new TreeSet<String>();
    var matcher = PORT.matcher(read(file));
    while (matcher.find()) ports.add(matcher.group(1));
    assertThat(ports).containsExactly("8000");
  }

  @Test
  void podsHaveTheTimeThatTheirSettingsGiveThem() throws IOException {
    var file = FOLDER.resolve("kustomize/kvasir.yaml");
    var settings = new Configuration(file, Map.of(), GivenOptions.NOTHING.keys()).read();
    settings.requireServable();
    assertThat(settings.isEmbedded()).isFalse();
    assertThat(settings.listen().restart().leaveTime()).isPositive();
    var grace =
        Pattern.compile("GracePeriodSeconds: (\\d+)").matcher(read("kustomize/gateway.yaml"));
    assertThat(grace.find()).isTrue();
    assertThat(Long.parseLong(grace.group(1)))
        .isGreaterThan(settings.listen().restart().time().toSeconds());
    assertThat(read("kustomize/kustomization.yaml")).contains("gateway.yaml", "[kvasir.yaml]");
  }

  @Test
  void eachPodOfASweepRunsAnotherPart() throws IOException {
    var job = read("sweep-job.yaml");
    var pods = Pattern.compile("(?:completions|parallelism): (\\d+)|_INDEX/(\\d+)").matcher(job);
    var counts = new TreeSet<String>();
    while (pods.find()) counts.add(pods.group(1) == null ? pods.group(2) : pods.group(1));
    assertThat(counts).containsExactly("8");
    var simulate = Objects.requireNonNull(line().getSubcommands().get("simulate"));
    assertThat(simulate.getCommandSpec().optionsMap()).containsKeys("--config", "--shard");
  }

  @Test
  void aServerThatEndsIsStartedAgain() throws IOException {
    assertThat(read("kvasir.service")).contains("Restart=on-failure", "/opt/kvasir/kvasir serve");
    assertThat(read("Dockerfile")).contains("ENTRYPOINT [\"/opt/kvasir/kvasir\"]");
  }

  @Test
  void theImageHoldsTheDistributionThatTheBuildMakes() throws IOException {
    assertThat(read("Dockerfile")).contains("kvasir-cli/target/distribution/kvasir-");
    assertThat(read("../kvasir-cli/pom.xml"))
        .contains("${project.build.directory}/distribution", "/kvasir-${project.version}\"");
  }

  private static String read(String file) throws IOException {
    return Files.readString(FOLDER.resolve(file));
  }

  private static CommandLine line() {
    var nowhere = new PrintWriter(Writer.nullWriter());
    return Main.line(nowhere, nowhere, Map.of());
  }
}
