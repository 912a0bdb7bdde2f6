package dev.kvasir.gateway.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.GatewaySettings;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.HttpSettings;
import io.vertx.core.http.HttpServer;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A page of a foreign name that leads to this machine, in a real browser, before a gateway without
 * keys.
 */
@Timeout(180)
@Tag("all")
class RebindingTest {
  private static final String ASK =
      "fetch('%s/v1/chat/completions', {method: 'POST', headers: {'content-type':"
          + " 'application/json'}, body: '{\"messages\":[]}'}).then(a => a.status, e => 'none')";
  private static final String DRAIN =
      "fetch('%s/workers/drain', {method: 'POST', headers: {'content-type': '%s'}, mode: '%s',"
          + " body: '{\"worker\":\"one\"}'}).then(a => a.status, e => 'none')";

  private final Network network = Network.open(1);
  private final AtomicInteger received = new AtomicInteger();
  private HttpServer server;
  private Gateway gateway;
  private Chromium chromium;
  private Tab tab;

  @BeforeEach
  void open() throws Exception {
    var program = Chromium.program();
    assumeTrue(program.isPresent(), "needs Chromium on the PATH, e.g. Debian's package chromium");
    server =
        network
            .vertx()
            .createHttpServer()
            .requestHandler(
                request -> {
                  if (String.valueOf(request.path()).startsWith("/v1/chat"))
                    received.incrementAndGet();
                  request.response().end("{\"data\":[{\"id\":\"tiny\",\"object\":\"model\"}]}");
                });
    Network.await(server.listen(0, HttpSettings.LOOPBACK));
    var url = "http://" + HttpSettings.LOOPBACK + ":" + server.actualPort();
    gateway = Gateway.start(network, GatewaySettings.of(0, List.of(Worker.of(url).named("one"))));
    gateway.awaitModel(Duration.ofSeconds(20));
    chromium = Chromium.start(program.get(), "--host-resolver-rules=MAP *.example 127.0.0.1");
    tab = chromium.tab();
    tab.bypassPolicy();
  }

  @AfterEach
  void close() {
    if (tab != null) tab.close();
    if (chromium != null) chromium.close();
    if (gateway != null) gateway.close();
    network.close();
  }

  @Test
  void aPageOfThisServerMayAsk() throws Exception {
    visit("http://localhost:" + gateway.port() + "/health");
    assertThat(tab.outcome(ASK.formatted(""))).isEqualTo("200");
    assertThat(received).hasValue(1);
  }

  @Test
  void aNameThatWasMadeToLeadHereIsRefused() throws Exception {
    visit("http://evil.example:" + gateway.port() + "/");
    assertThat(tab.value("document.body.innerText")).contains("this server is not");
    assertThat(tab.outcome(ASK.formatted(""))).isEqualTo("403");
    assertThat(tab.outcome("fetch('/dashboard/state').then(a => a.status)")).isEqualTo("403");
    assertThat(received).hasValue(0);
  }

  @Test
  void aNameThatWasMadeToLeadToTheAdminPortIsRefused() throws Exception {
    visit("http://evil.example:" + URI.create(gateway.adminUrl()).getPort() + "/metrics");
    assertThat(tab.outcome(DRAIN.formatted("", "application/json", "cors"))).isEqualTo("403");
    assertStillServes();
  }

  @Test
  void aForeignPageThatAsksTheRightAddressIsRefused() throws Exception {
    visit("http://evil.example:" + server.actualPort() + "/");
    tab.outcome(ASK.formatted(gateway.url()));
    for (var type : List.of("application/json", "text/plain")) {
      tab.outcome(DRAIN.formatted(gateway.adminUrl(), type, "cors"));
      tab.outcome(DRAIN.formatted(gateway.adminUrl(), type, "no-cors"));
    }
    assertThat(received).hasValue(0);
    assertStillServes();
  }

  private void assertStillServes() throws InterruptedException {
    visit("http://localhost:" + gateway.port() + "/health");
    assertThat(tab.outcome(ASK.formatted(""))).isEqualTo("200");
  }

  private void visit(String url) throws InterruptedException {
    tab.go(url);
    tab.until("location.href === '" + url + "' && document.readyState === 'complete'");
  }
}
