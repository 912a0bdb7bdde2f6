package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.net.server.Eventually;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests what callers say about their conversations, and what becomes of it. */
class SessionHintTest {
  private static final String PROMPT = "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]";

  private final Scene scene = new Scene();

  @AfterEach
  void stop() {
    scene.close();
  }

  @Test
  void workersHearWhetherTheConversationGoesOnButNotItsName() {
    chat("", "x-kvasir-session", "my talk", "x-kvasir-last-turn", "true");
    chat("", "x-kvasir-last-turn", "False");
    var sent = scene.seen().stream().map(seen -> seen.headers().get("x-kvasir-last-turn")).toList();
    assertThat(sent).containsExactlyInAnyOrder("true", "false");
    for (var seen : scene.seen()) {
      var session = seen.headers().get("x-kvasir-session");
      if (session != null) assertThat(session).matches("[0-9a-f]{64}");
      assertThat(seen.headers().toString()).doesNotContain("my talk");
    }
  }

  @Test
  void workersHearForHowLongBlocksArePinned() {
    chat("", "x-kvasir-pin", " 300 ");
    chat("", "x-kvasir-pin", "999999999999");
    chat("", "x-kvasir-pin", "0");
    for (var text : List.of("-1", "5m", "1".repeat(30))) chat("", "x-kvasir-pin", text);
    var pins = scene.seen().stream().map(seen -> seen.headers().get("x-kvasir-pin"));
    assertThat(pins.filter(Objects::nonNull)).containsExactlyInAnyOrder("300", "86400");
    assertThat(metrics()).contains("kvasir_hints_ignored_total 3");
  }

  @Test
  void everyWayToNameASessionMeansTheSameOne() {
    chat("", "x-kvasir-session", "talk");
    chat("", "x-session-id", "talk");
    chat(",\"prompt_cache_key\":\"talk\"");
    chat(",\"session_id\":\"talk\"");
    chat(",\"user\":\"somebody\"");
    assertThat(sessions()).isEqualTo(1);
    assertThat(scene.seen().stream().map(seen -> seen.headers().get("x-kvasir-session")).distinct())
        .hasSize(2);
  }

  @Test
  void whatCannotBeReadIsIgnoredAndCounted() {
    var fields =
        List.of(
            ",\"prompt_cache_key\":5",
            ",\"prompt_cache_key\":\"\\udc00\"",
            ",\"session_id\":[]",
            ",\"prompt_cache_key\":\"" + "x".repeat(2_000) + "\"");
    for (var field : fields) assertThat(chat(field).statusCode()).as(field).isEqualTo(200);
    assertThat(chat("", "x-kvasir-last-turn", "perhaps").statusCode()).isEqualTo(200);
    assertThat(sessions()).isZero();
    assertThat(metrics()).contains("kvasir_hints_ignored_total 5").contains("kvasir_hints_total 0");
  }

  @Test
  void aSessionThatIsDeletedHasNoHomeAndItsWorkerHearsOfIt() throws Exception {
    chat("", "x-kvasir-session", "a/b c");
    var hash = scene.seen().getFirst().headers().get("x-kvasir-session");
    assertThat(delete("a%2Fb%20c").body()).contains("\"deleted\":true");
    assertThat(sessions()).isZero();
    Eventually.ends(
        () -> scene.seen().stream().noneMatch(seen -> seen.path().equals("/v1/sessions/" + hash)));
    assertThat(delete("a%2Fb%20c").body()).contains("\"deleted\":false");
    assertThat(delete("x".repeat(2_000)).statusCode()).isEqualTo(200);
    assertThat(delete("").statusCode()).isEqualTo(404);
  }

  private HttpResponse<String> chat(String more, String... headers) {
    var request =
        scene
            .request(Scene.CHAT)
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(Scene.body(Plan.GOOD, PROMPT + more)));
    if (headers.length > 0) request.headers(headers);
    return scene.send(request);
  }

  private HttpResponse<String> delete(String name) {
    return scene.send(scene.request("/v1/sessions/" + name).DELETE());
  }

  private int sessions() {
    return scene.gateway.onLoop(() -> scene.gateway.router().sessions());
  }

  private String metrics() {
    var url = URI.create(scene.gateway.adminUrl() + "/metrics");
    return scene.send(HttpRequest.newBuilder(url)).body();
  }
}
