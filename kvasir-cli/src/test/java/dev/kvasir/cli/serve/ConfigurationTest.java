package dev.kvasir.cli.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.cli.settings.RoutingSettings;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.gateway.worker.Connector;
import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.net.redis.RedisAccess;
import dev.kvasir.router.view.Role;
import dev.kvasir.spec.SpecError;
import dev.kvasir.tiers.DiskTier;
import dev.kvasir.tiers.ObjectTier;
import dev.kvasir.tiers.RemoteTier;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Settings from options, environment and file, and what is said of wrong ones. */
class ConfigurationTest {
  @TempDir private Path folder;

  @Test
  void withNothingSaidAllIsAsUsual() throws IOException {
    assertThat(read("", Map.of())).isEqualTo(Deployment.DEFAULT);
  }

  @Test
  void optionsGoBeforeVariablesAndTheseBeforeTheFile() throws IOException {
    var yaml =
        """
        listen: {port: 1, admin-port: 2, host: localhost}
        tiers:
          host: {blocks: 10, edge: {pipeline: {batch: {blocks-max: 99}}}}
        """;
    var variables =
        Map.of("KVASIR_LISTEN_PORT", "3", "KVASIR_LISTEN_ADMIN_PORT", "4", "KVASIR_OTHER", "x");
    var settings = read(yaml, variables, "--port=5", "--host-blocks=20");
    assertThat(settings.listen().port()).isEqualTo(5);
    assertThat(settings.listen().adminPort()).isEqualTo(4);
    assertThat(settings.listen().host()).isEqualTo("localhost");
    assertThat(settings.tiers().tieredCache(0).host().blocks()).isEqualTo(20);
    assertThat(settings.tiers().tieredCache(0).host().edge().pipeline().batch().blocksMax())
        .isEqualTo(99);
    assertThat(settings.tiers().tieredCache(0).on(Tier.DISK)).isEqualTo(DiskTier.DEFAULT);
  }

  @Test
  void theIndexOfTheRouterHasTheSizeThatIsAskedFor() throws IOException {
    var settings = read("", Map.of(), "--index-blocks=5000").routing();
    var index = settings.routing(Routing.Naming.TOKENS, 0).settings().index();
    assertThat(index.entriesMax()).isEqualTo(5_000);
    assertThatThrownBy(() -> read("", Map.of(), "--index-blocks=7"))
        .hasMessageContaining("an index of 7 blocks, expected 1024 to");
  }

  @Test
  void workersAreTheSameInAFileInAVariableAndAsOptions() throws IOException {
    var yaml =
        """
        workers:
          - {url: "http://d:8000", name: d1, role: decode, connector: nixl, events: "tcp://d:5557"}
          - url: http://p:8000
        """;
    var texts =
        List.of(
            "http://d:8000,name=d1,role=decode,connector=nixl,events=tcp://d:5557",
            "http://p:8000");
    var fromFile = read(yaml, Map.of()).workers();
    var options = texts.stream().map(text -> "--worker=" + text).toArray(String[]::new);
    assertThat(fromFile).isEqualTo(read("", Map.of(), options).workers());
    assertThat(fromFile)
        .isEqualTo(read("", Map.of("KVASIR_WORKERS", String.join(" ", texts))).workers());
    var worker = fromFile.getFirst().worker();
    assertThat(worker.name()).isEqualTo("d1");
    assertThat(worker.role()).isEqualTo(Role.DECODE);
    assertThat(worker.connector()).isEqualTo(Connector.NIXL);
    assertThat(fromFile.getFirst().replayIfAny()).isNull();
    assertThat(fromFile.getLast().worker().name()).isEqualTo("p:8000");
  }

  @Test
  void aTierBelowAWorkerNeedsTheWorkersEvents() throws IOException {
    var worker = "--worker=http://d:8000,tier=tcp://d:5570,tier-replay=tcp://d:5571";
    assertThatThrownBy(() -> read("", Map.of(), worker)).hasMessageContaining("without events");
    var both = read("", Map.of(), worker + ",events=tcp://d:5557").workers().getFirst();
    assertThat(both.tier()).isEqualTo("tcp://d:5570");
    assertThat(both.tierReplay()).isEqualTo("tcp://d:5571");
  }

  @Test
  void metricsForOtherMachinesNeedAKey() throws IOException {
    assertThatThrownBy(() -> read("listen: {metrics: {host: 0.0.0.0}}", Map.of()))
        .hasMessageContaining("open to other machines and needs metrics.key");
    assertThat(read("listen: {metrics: {host: 127.0.0.1}}", Map.of()).listen().metricsServer())
        .isNotNull();
    assertThat(read("", Map.of()).listen().metricsServer()).isNull();
  }

  @Test
  void everyKindOfValueIsRead() throws IOException {
    var yaml =
        """
        engines: {planning: discard, total-kv-blocks: 1_000, model: models/a.gguf}
        routing: {naming: bytes, probe-pace: 250ms, worker-key: hush}
        limits: {queue: {patience: 1.5m}}
        tiers: {remote: {server: {nodes: "a:1, b:2", shape: cluster, access: {tls: on}}}, object: }
        files:
        """;
    var settings = read(yaml, Map.of());
    assertThat(settings.engines().planning()).isEqualTo(PlanningSettings.Mode.DISCARD);
    assertThat(settings.engines().totalKvBlocks()).isEqualTo(1_000);
    assertThat(settings.engines().model()).isEqualTo(folder.resolve("models/a.gguf"));
    assertThat(settings.routing().naming()).isEqualTo(Routing.Naming.BYTES);
    assertThat(settings.routing().probePace()).isEqualTo(Duration.ofMillis(250));
    assertThat(settings.limits().queue().patience()).isEqualTo(Duration.ofSeconds(90));
    assertThat(settings.files()).isEqualTo(Deployment.Output.DEFAULT);
    var remote =
        ((RemoteTier) requireNonNull(settings.tiers().tieredCache(0).on(Tier.REMOTE))).server();
    assertThat(remote.nodes()).containsExactly("a:1", "b:2");
    assertThat(remote.access().tls()).isEqualTo(RedisAccess.Tls.ON);
    assertThat(settings.tiers().tieredCache(0).on(Tier.OBJECT)).isEqualTo(ObjectTier.DEFAULT);
  }

  @Test
  void whatIsWrongIsToldWithItsPlaceAndWhatWasExpected() {
    wrong("listen:\n  prot: 1", ":2: listen.prot: unknown key 'prot'", "mean 'port'?");
    wrong("hardware: {fit: a.csv}", "there is no such key any more", "'kvasir calibrate'");
    wrong("listen: {warm-up: 0s}", "listen.warm-up: there is no such key any more", "leave it out");
    wrong("listen:\n  port: high", ":2: listen.port: 'high', expected a whole number");
    wrong("listen:\n\n  port: 70000", ":3: listen: port 70000, expected 0 to 65535");
    wrong("listen: 8000", ":1: listen: this is not a section");
    wrong("listen:\n  port: [1]", ":2: listen.port: this is not a single value");
    wrong("routing: {policy: balance}", "expected one of balanced, ", "mean 'balanced'?");
    wrong("routing: {probe-pace: 5}", "routing.probe-pace: '5', expected a time with its unit");
    wrong("engines: {planning: repare}", "expected one of sequential, ", "mean 'repair'?");
    wrong("workers: {url: a}", ":1: workers: this is not a list");
    wrong("workers:\n  - url: d:8000", ":2: workers[0]: ", "give it as http://HOST:PORT");
    wrong("workers:\n  - url: http://d:99999", ":2: workers[0]: ", "port 99999, expected 1 to");
    wrong("workers: [{url: 'http://a:b@d'}]", "leave it out", "routing.worker-key");
    wrong("workers: [{url: 'http://d', events: 'tcp://d:70000'}]", "a port from 1 to 65535");
    wrong("listen: {names: 'https://a.b'}", "expected a host name without scheme and port");
    wrong("workers:\n  - name: d", ":2: workers[0]: a worker without url");
    wrong("workers:\n  - {}", "worker 1 has no url");
    wrong("workers: [{url: 'http://d'}, {url: 'http://d'}]", "two workers have the same name");
    wrong("cache: x\ncache: y", ":2: 'cache' is there twice");
    wrong("listen: [", ": this is not YAML; ", "expected the node content");
    wrong("listen:\n\tport: 1", ":2: this is not YAML; ", "cannot start any token");
    wrong("- listen", "there are no keys here");
    refused(
        "tiers: [{kind: remote}, {kind: host}]", "order [remote, host]: host comes first, since");
    wrong("tiers:\n  - {kind: dist}", ":2: tiers: unknown kind of tier 'dist'", "mean 'disk'?");
    wrong("tiers:\n  - {blocks: 1}", ":2: tiers: a tier without a kind", "host, disk, remote");
    wrong("tiers: [{kind: host}, {kind: host}]", "two tiers of kind host");
    wrong("tiers: [{kind: host, block: 1}]", "tiers.host.block: unknown key", "mean 'blocks'?");
    wrong("tiers: 5", ":1: tiers: this is not a list", "- kind: host");
    wrong("tiers: [{kind: host, size: 3GX}]", "tiers.host.size: '3GX', expected a whole number");
    refused("engines: {eviction: optimal}", "engines.eviction optimal: it needs to know");
    wrong("routing: {scorers: 'queue-dept:1'}", "routing: ", "queue-dept");
    refused("hardware: {gpu: L40S}", "hardware.gpu is L40S, and there are no workers");
    refused(
        "engines: {block-size: 32}", "engines.block-size 32: blocks of embedded engines have 16");
  }

  @Test
  void aWrongOptionOrVariableIsToldByItsName() {
    assertThatThrownBy(() -> read("", Map.of(), "--port=high"))
        .hasMessageStartingWith("--port: listen.port: 'high', expected a whole number");
    assertThatThrownBy(() -> read("listen: {port: 1}", Map.of("KVASIR_LISTEN_PORT", "high")))
        .hasMessageStartingWith("KVASIR_LISTEN_PORT: listen.port: 'high'");
    assertThatThrownBy(() -> read("", Map.of(), "--worker=http://d:8000,rule=decode"))
        .hasMessageStartingWith("--worker: workers[0].rule: unknown key 'rule'");
    assertThatThrownBy(() -> read("", Map.of(), "--worker=http://d:8000,decode"))
        .hasMessageContaining("\"decode\" is not key=value");
  }

  @Test
  void aCheckedConfigurationIsToldInWordsAndSecretsAreNot() throws Exception {
    var keys = Files.writeString(folder.resolve("keys"), "ada " + "0".repeat(64) + " admin\n");
    var yaml =
        """
        listen: {api-keys: keys}
        routing: {worker-key: hush, tenant-secret: hush}
        tiers: {host: {blocks: 100}, disk: {blocks: 50, edge: {uses-min: 2}}}
        """;
    var out = check(yaml, 0);
    assertThat(out)
        .contains("1 keys, from " + keys, "ada, may administer")
        .contains("2 embedded engines share the built-in model")
        .contains("host    100 blocks (1,600 tokens)", "disk    50 blocks (800 tokens)")
        .contains("used more than 2 times lately", "in batches of 8 to 64 after 10ms")
        .contains("fewer than above")
        .doesNotContain("hush", "0000");
    assertThat(check("workers: [{url: 'http://d:1', events: 'tcp://d:2'}]", 0))
        .contains("1 workers:", "d:1 at http://d:1 prefills and decodes", "at tcp://d:2");
    assertThat(check("tiers: [{kind: host}, {kind: object}, {kind: disk}]", 0))
        .containsSubsequence("host    2,048", "object  262,144", "disk    4,096")
        .contains("through 64 blocks of host memory");
    assertThat(check("listen: {prot: 1}", 65)).contains("kvasir.yaml:1: listen.prot");
  }

  @Test
  void aKeyOnTheCommandLineIsNoticed() {
    for (var key : List.of("hush", "environment:X")) {
      assertThat(options("--worker-key=" + key).showsWorkerKey()).as(key).isTrue();
    }
    for (var key : List.of("env:KEY", "file:key")) {
      assertThat(options("--worker-key=" + key).showsWorkerKey()).as(key).isFalse();
    }
    assertThat(options().showsWorkerKey()).isFalse();
  }

  private static ServeOptions options(String... line) {
    var options = new ServeOptions();
    CommandLine.populateCommand(options, line);
    return options;
  }

  @Test
  void heavyIsScaledToTheContextOfEnginesOfOurOwn() {
    var usual = RoutingSettings.DEFAULT;
    assertThat(usual.classes(1_024).heavyTokensMin()).isEqualTo(256);
    assertThat(usual.classes(1_024).warmTokensMax()).isEqualTo(64);
    assertThat(usual.classes(0).heavyTokensMin()).isEqualTo(2_048);
    assertThat(usual.classes(131_072).warmTokensMax()).isEqualTo(512);
  }

  private void refused(String yaml, String expected) {
    assertThatThrownBy(() -> read(yaml, Map.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(expected);
  }

  private void wrong(String yaml, String... expected) {
    assertThatThrownBy(() -> read(yaml, Map.of()))
        .isInstanceOf(SpecError.class)
        .message()
        .startsWith(folder.resolve("kvasir.yaml").toString())
        .contains(expected);
  }

  private Deployment read(String yaml, Map<String, String> variables, String... options)
      throws IOException {
    var all = new ServeOptions();
    var named = "--config=" + file(yaml);
    var line = Stream.concat(Stream.of(named), Stream.of(options)).toArray(String[]::new);
    CommandLine.populateCommand(all, line);
    var read = all.configuration(variables).read();
    read.requireServable();
    var _ = read.tiers().tieredCache(0);
    return read;
  }

  private String check(String yaml, int code) throws IOException {
    var text = new StringWriter();
    var writer = new PrintWriter(text, true);
    var command = new CommandLine(new CheckConfigCommand(writer, writer, Map.of()));
    assertThat(command.execute(file(yaml).toString())).isEqualTo(code);
    return text.toString();
  }

  private Path file(String yaml) throws IOException {
    return Files.writeString(folder.resolve("kvasir.yaml"), yaml);
  }
}
