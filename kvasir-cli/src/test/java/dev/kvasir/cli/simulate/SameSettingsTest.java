package dev.kvasir.cli.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.config.GivenOptions;
import dev.kvasir.cli.config.KeyPaths;
import dev.kvasir.cli.settings.Configuration;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.spec.SpecError;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file means the same to {@code serve} and to {@code simulate}, key by key. */
class SameSettingsTest {
  private static final PrintWriter NOWHERE = new PrintWriter(Writer.nullWriter());

  private static final Path WORKLOAD =
      Path.of(System.getProperty("kvasir.root", ".."), "examples", "workloads", "chat.yaml");

  /** Keys whose values are words of their own, by a value that is not the default. */
  private static final Map<String, String> WORDS =
      Map.ofEntries(
          Map.entry("listen.host", "localhost"),
          Map.entry("routing.policy", "weighted"),
          Map.entry("routing.placement", "threshold"),
          Map.entry("routing.scorers", "queue-depth:3"),
          Map.entry("limits.admission.policy", "tier-shed"),
          Map.entry("engines.eviction", "s3-fifo"),
          Map.entry("engines.sharing", "tiers"),
          Map.entry("hardware.gpu", "A100"),
          Map.entry("hardware.latency-model", "roofline"),
          Map.entry("hardware.alpha-coeffs", "1.0, 2.0, 3.0"),
          Map.entry("hardware.beta-coeffs", "1.0, 2.0, 3.0"),
          Map.entry("simulation.outages", "0@1s-2s"),
          Map.entry("listen.names", "kvasir.example"),
          Map.entry("tiers.remote.server.nodes", "redis.example:6379"),
          Map.entry("tiers.remote.server.shape", "single"),
          Map.entry("limits.failures.ready-share-min", "0.25"),
          Map.entry("hardware.memory-utilization", "0.5"),
          Map.entry("slo.attainment", "0.9"),
          Map.entry("tiers.remote.seal.protection", "checksum"),
          Map.entry("tiers.object.seal.protection", "checksum"),
          Map.entry("limits.http.bodies-bytes-max", "1073741824"),
          Map.entry("limits.http.body-bytes-max", "1048576"));

  @TempDir private Path folder;

  @Test
  void everyKeyIsReadAlikeAndOneThatCannotBeServedIsRefusedByItsName() throws IOException {
    var unservable = new ArrayList<String>();
    for (var key : KeyPaths.of(Deployment.DEFAULT)) {
      if (key.isOfList()) continue;
      var value = value(key);
      var file = file(key.path(), value);
      var served =
          read(() -> new Configuration(file, Map.of(), GivenOptions.NOTHING.keys()).read());
      var simulated = read(() -> simulated(file));
      var differing = new LinkedHashMap<>(simulated);
      differing.entrySet().removeAll(served.entrySet());
      assertThat(differing).as(key.path()).isEmpty();
      var written = served.get(key.path());
      boolean isTier = key.path().startsWith("tiers.");
      if (isTier && !served.containsKey("error")) assertSameTiers(file);
      else if (written != null) assertThat(text(written)).as(key.path()).isEqualTo(text(value));
      else assertThat(served.get("error")).as(key.path()).contains(section(key.path()));
      var refusal = refusal(file);
      if (refusal.isEmpty()) continue;
      assertThat(refusal).contains(key.path());
      unservable.add(key.path());
    }
    // A tier daemon beside the gateway needs its file.
    assertThat(unservable)
        .containsExactly(
            "engines.prefill",
            "engines.decode",
            "engines.block-size",
            "tier-config",
            "hardware.gpu");
  }

  private static void assertSameTiers(Path file) throws IOException {
    var served = new Configuration(file, Map.of(), GivenOptions.NOTHING.keys()).read();
    assertThat(simulated(file).tiers()).isEqualTo(served.tiers());
  }

  @Test
  void workersAndTiersAreReadAlike() throws IOException {
    var file =
        Files.writeString(
            folder.resolve("kvasir.yaml"),
            """
            workers:
              - {url: "http://a:8000", name: a, role: prefill, connector: nixl}
              - {url: "http://b:8000", role: decode, connector: mooncake, bootstrap: "b:9000"}
              - {url: "http://c:8000", events: "tcp://c:5557", replay: "tcp://c:5558"}
            tiers: [{kind: host, size: 1GiB}, {kind: object, look-time: 1s}, {kind: disk}]
            """);
    var served = new Configuration(file, Map.of(), GivenOptions.NOTHING.keys()).read();
    assertThat(simulated(file)).isEqualTo(served);
    assertThat(served.workers()).hasSize(3);
    assertThat(served.naming()).isEqualTo(simulated(file).naming());
  }

  @Test
  void everyKeyOfTheDeploymentCanBeSweptUnlessItSaysNothingOfTheRun() {
    for (var key : KeyPaths.of(Deployment.DEFAULT)) {
      if (key.isOfList()) continue;
      String output = "";
      try {
        assertThat(Dimension.parse(key.path() + "=1;2").path()).isEqualTo(key.path());
      } catch (IllegalArgumentException refused) {
        output = String.valueOf(refused.getMessage());
      }
      boolean isUnsimulated = key.path().matches("(listen|files)\\..*|cache");
      assertThat(output.contains("would give the same run each time"))
          .as(key.path())
          .isEqualTo(isUnsimulated);
    }
  }

  private interface Reading {
    Deployment read() throws IOException;
  }

  /** Returns the settings that were read, key by key, or the reason why they were refused. */
  private static Map<String, String> read(Reading reading) throws IOException {
    var read = new LinkedHashMap<String, String>();
    try {
      for (var key : KeyPaths.of(reading.read())) read.put(key.path(), key.usual());
    } catch (SpecError wrong) {
      read.put("error", String.valueOf(wrong.getMessage()));
    }
    return read;
  }

  private static Deployment simulated(Path file) throws IOException {
    var line = SimulateCommand.line(NOWHERE, NOWHERE, Map.of());
    var parsed = line.parseArgs("--config", file.toString());
    var options = new SimulateOptions();
    options.config = file;
    options.workload = WORKLOAD;
    return Plan.of(options, parsed, Map.of(), NOWHERE).deployment();
  }

  private static String refusal(Path file) throws IOException {
    try {
      new Configuration(file, Map.of(), GivenOptions.NOTHING.keys()).read().requireServable();
      return "";
    } catch (SpecError unread) {
      return "";
    } catch (IllegalArgumentException refused) {
      return String.valueOf(refused.getMessage());
    }
  }

  private static String value(KeyPaths.Key key) {
    var word = WORDS.get(key.path());
    if (word != null) return word;
    return switch (key.kind()) {
      case "whole number" -> "4096";
      case "number" -> "3.5";
      case "time" -> "7s";
      case "file" -> "/tmp/kvasir-nothing";
      case "URL" -> "http://kvasir.example:4318/";
      case "secret" -> "a secret that is longer than 32 bytes";
      case "list", "string" -> "kvasir";
      default -> List.of(key.kind().split(", ", -1)).getLast();
    };
  }

  /** Secrets are not shown. */
  private static String text(String value) {
    return value.contains("secret") || value.equals("***") ? "" : value;
  }

  /**
   * Returns the section of the key; keys that contradict each other are reported by their section.
   */
  private static String section(String path) {
    return path.substring(0, path.lastIndexOf('.'));
  }

  private Path file(String path, String value) throws IOException {
    var yaml = new StringBuilder();
    var names = path.split("\\.", -1);
    for (int i = 0; i < names.length; i++) {
      yaml.append("  ".repeat(i)).append(names[i]).append(":");
      yaml.append(i == names.length - 1 ? " '" + value + "'\n" : "\n");
    }
    return Files.writeString(folder.resolve("kvasir.yaml"), yaml);
  }
}
