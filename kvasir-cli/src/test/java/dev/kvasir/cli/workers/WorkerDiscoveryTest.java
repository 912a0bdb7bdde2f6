package dev.kvasir.cli.workers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cli.settings.DiscoverySettings;
import dev.kvasir.cli.settings.DiscoverySettings.Start;
import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.cli.workers.WorkerSources.Source;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers that a file or DNS names, and what stays where those do not answer. */
class WorkerDiscoveryTest {
  private static final Duration PACE = Duration.ofMillis(20);

  private final BlockingQueue<List<String>> used = new LinkedBlockingQueue<>();
  private final WorkerSources sources =
      new WorkerSources(
          workers -> used.add(workers.stream().map(each -> each.worker().name()).toList()));

  @TempDir private Path folder;

  private DiscoverySettings byFile(Path file) {
    return new DiscoverySettings(Start.WITH_WORKERS, file, "", "", PACE, 0, 0);
  }

  private static DiscoverySettings byDns(NameServer server) {
    var name = "_http._tcp.vllm.test";
    return new DiscoverySettings(
        Start.WITH_WORKERS, null, name, server.address(), PACE, 5557, 5558);
  }

  private List<String> next() throws InterruptedException {
    var next = used.poll(20, TimeUnit.SECONDS);
    return next == null ? List.of("nothing came") : next;
  }

  private List<String> names() {
    return sources.all().stream().map(each -> each.worker().name()).toList();
  }

  private static String failures(WorkerSources sources, Source source) {
    var out = new dev.kvasir.live.metrics.MetricsText();
    WorkerSources.METRICS.write(sources, out);
    return out.toString()
        .lines()
        .filter(line -> line.startsWith("kvasir_discovery_failures_total{"))
        .filter(line -> line.contains(source.label()))
        .map(line -> line.substring(line.lastIndexOf(' ') + 1))
        .findFirst()
        .orElse("none");
  }

  @Test
  void aFileIsReadAgainWhenItChangesAndABrokenOneChangesNothing() throws Exception {
    var file = folder.resolve("workers.yaml");
    Files.writeString(file, "workers:\n  - {url: 'http://a:1', name: a}\n");
    try (var discovery = WorkerDiscovery.of(byFile(file), sources)) {
      assertThat(names()).containsExactly("a");
      discovery.run();
      Files.writeString(file, "workers:\n  - {url: 'http://b:1'}\n  - {url: 'http://a:1'}\n");
      assertThat(next()).containsExactly("b:1", "a:1");
      Files.writeString(file, "workers:\n  - {uri: 'http://c:1'}\n");
      for (int i = 0; i < 1_000 && failures(sources, Source.FILE).equals("0"); i++) {
        Thread.sleep(10);
      }
      assertThat(failures(sources, Source.FILE)).isNotEqualTo("0");
      assertThat(names()).containsExactly("b:1", "a:1");
      Files.writeString(file, "workers: []\n");
      assertThat(next()).isEmpty();
    }
  }

  @Test
  void aFileThatIsNotThereYetIsNoReasonNotToStart() throws Exception {
    var file = folder.resolve("later.yaml");
    try (var discovery = WorkerDiscovery.of(byFile(file), sources)) {
      assertThat(names()).isEmpty();
      discovery.run();
      Files.writeString(file, "workers: [{url: 'http://a:1'}]\n");
      assertThat(next()).containsExactly("a:1");
    }
  }

  @Test
  void serviceRecordsNameWorkersWithTheirPortsAndEvents() throws Exception {
    try (var server = new NameServer()) {
      server.records = List.of("8000 one.vllm.test", "8001 two.vllm.test");
      try (var discovery = WorkerDiscovery.of(byDns(server), sources)) {
        assertThat(names()).containsExactly("one.vllm.test:8000", "two.vllm.test:8001");
        assertThat(sources.all().getFirst().events()).isEqualTo("tcp://one.vllm.test:5557");
        assertThat(sources.all().getFirst().replay()).isEqualTo("tcp://one.vllm.test:5558");
        discovery.run();
        server.records = List.of("8001 two.vllm.test");
        assertThat(next()).containsExactly("two.vllm.test:8001");
      }
    }
  }

  @Test
  void aNameWithoutRecordsKeepsTheWorkersItHad() throws Exception {
    try (var server = new NameServer()) {
      server.records = List.of("8000 one.vllm.test");
      var settings = byDns(server);
      var lookup = new ServiceRecords(settings);
      assertThat(lookup.workers()).hasSize(1);
      server.records = List.of();
      assertThatThrownBy(lookup::workers).isInstanceOf(IOException.class);
      server.records = List.of("8000 one.vllm.test");
      try (var discovery = WorkerDiscovery.of(settings, sources)) {
        discovery.run();
        server.records = List.of();
        for (int i = 0; i < 1_000 && failures(sources, Source.DNS).equals("0"); i++) {
          Thread.sleep(10);
        }
        assertThat(names()).containsExactly("one.vllm.test:8000");
      }
    }
  }

  @Test
  void moreRecordsThanADatagramHoldsComeByTcp() throws Exception {
    try (var server = new NameServer()) {
      var records = new ArrayList<String>();
      for (int i = 0; i < 256; i++) records.add("8000 pod-" + i + ".vllm.test");
      server.records = records;
      assertThat(new ServiceRecords(byDns(server)).workers()).hasSize(256);
      assertThat(server.overTcp.get()).isEqualTo(1);
    }
  }

  @Test
  void aServerThatDoesNotAnswerIsNotWaitedForLong() throws Exception {
    try (var server = new NameServer()) {
      server.isMute = true;
      assertThatThrownBy(() -> new ServiceRecords(byDns(server)).workers())
          .isInstanceOf(IOException.class)
          .hasMessageContaining("_http._tcp.vllm.test");
    }
  }

  @Test
  void whereTwoSourcesNameOneWorkerTheFirstCounts() throws Exception {
    var written = DiscoverySettings.DEFAULT.worker("a", "1");
    sources.begin(Source.SETTINGS, List.of(written));
    sources.set(Source.FILE, List.of(telling(written), DiscoverySettings.DEFAULT.worker("b", "1")));
    assertThat(next()).containsExactly("a:1", "b:1");
    assertThat(sources.all().getFirst()).isEqualTo(written);
  }

  /** The same worker, which tells its KV events. */
  private static WorkerSettings telling(WorkerSettings worker) {
    return new WorkerSettings(
        worker.url(),
        worker.name(),
        worker.role(),
        worker.connector(),
        worker.bootstrap(),
        "tcp://a:2",
        "",
        worker.rank(),
        worker.tier(),
        worker.tierReplay());
  }
}
