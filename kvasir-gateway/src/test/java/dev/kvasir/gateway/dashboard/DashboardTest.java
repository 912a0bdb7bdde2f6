package dev.kvasir.gateway.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.kvasir.net.Json;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.offload.state.TierState;
import dev.kvasir.router.view.Availability;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class DashboardTest {
  private static final Pattern REFERENCE = Pattern.compile("(?:src|href|from) ?=?\"([^\"#]+)\"");

  private final SampleServer server = new SampleServer();
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  @Test
  void thePageForbidsWhatItDoesNotDo() throws Exception {
    var page = get("/");
    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(page.headers().firstValue("content-security-policy").orElseThrow())
        .startsWith("default-src 'none'")
        .doesNotContain("unsafe")
        .doesNotContain("http");
    assertThat(page.headers().firstValue("x-content-type-options")).contains("nosniff");
    assertThat(page.body()).doesNotContain(" style=").doesNotContainPattern(" on\\w+=");
  }

  @Test
  void allThatThePageRefersToIsThere() throws Exception {
    for (var file :
        List.of("/", "/dashboard/main.js", "/dashboard/view.js", "/dashboard/prompt.js")) {
      var matcher = REFERENCE.matcher(get(file).body());
      while (matcher.find()) {
        var name = matcher.group(1).replaceFirst("^\\./", "/dashboard/");
        assertThat(get(name).statusCode()).as(name).isEqualTo(200);
      }
    }
  }

  @Test
  void nothingOnThePageIsMadeFromMarkup() throws Exception {
    for (var endpoint : Dashboard.endpoints(Sample::quiet)) {
      if (!endpoint.path().endsWith(".js")) continue;
      assertThat(get(endpoint.path()).body())
          .as(endpoint.path())
          .doesNotContain(
              "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(");
    }
  }

  @Test
  void whatABrowserHasIsNotSentAgain() throws Exception {
    var first = get("/dashboard/style.css");
    var tag = first.headers().firstValue("etag").orElseThrow();
    var again = get("/dashboard/style.css", "if-none-match", tag);
    assertThat(again.statusCode()).isEqualTo(304);
    assertThat(again.body()).isEmpty();
    assertThat(get("/dashboard/style.css", "if-none-match", "\"other\"").statusCode())
        .isEqualTo(200);
  }

  @Test
  void thePageIsPublicAndItsFiguresAreNot() throws Exception {
    server.use(new ApiKeys(List.of(ApiKey.of("ada", "secret-of-ada"))));
    assertThat(get("/").statusCode()).isEqualTo(200);
    assertThat(get("/dashboard/state").statusCode()).isEqualTo(401);
    var state = get("/dashboard/state", "authorization", "Bearer secret-of-ada");
    assertThat(state.statusCode()).isEqualTo(200);
    assertThat(state.headers().firstValue("cache-control")).contains("no-store");
  }

  @Test
  void figuresAreNamedAsTheRecordsNameThem() throws Exception {
    server.show(Sample.busy(1_204, Availability.DOWN));
    var state = Json.read(get("/dashboard/state").body().getBytes(StandardCharsets.UTF_8));
    assertThat(state.at("/instances/1/availability").asString()).isEqualTo("DOWN");
    assertThat(state.at("/edges/0/load/onDeck").asInt()).isEqualTo(2);
    assertThat(state.at("/edges/0/load").has("empty")).isFalse();
    assertThat(state.at("/ttft/slices").size()).isEqualTo(60);
    assertThat(state.at("/ttft/slices/0/p50Seconds").isNull()).isTrue();
    assertThat(state.at("/decisions").size()).isEqualTo(50);
  }

  @Test
  void aSourceThatFailsIsNotTheEndOfTheServer() throws Exception {
    server.fail();
    assertThat(get("/dashboard/state").statusCode()).isEqualTo(500);
    server.show(Sample.quiet());
    assertThat(get("/dashboard/state").statusCode()).isEqualTo(200);
  }

  @Test
  void statesThatCannotBeAreRefused() {
    var decision = Sample.busy(1_204, Availability.READY).decisions().getFirst();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> quietWith(Collections.nCopies(51, decision)))
        .withMessageContaining("51");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new TierState("host", 5, 4, 0, 0, 0, 0))
        .withMessageContaining("5 of 4");
  }

  private static DashboardState quietWith(List<DecisionState> decisions) {
    var quiet = Sample.quiet();
    return new DashboardState(
        quiet.version(),
        quiet.timeMillis(),
        quiet.uptimeSeconds(),
        quiet.models(),
        quiet.instances(),
        quiet.tiers(),
        quiet.edges(),
        decisions,
        quiet.ttft(),
        quiet.itl());
  }

  private HttpResponse<String> get(String path, String... headers) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(server.url() + path));
    if (headers.length > 0) request.headers(headers);
    return client.send(request.build(), BodyHandlers.ofString());
  }
}
