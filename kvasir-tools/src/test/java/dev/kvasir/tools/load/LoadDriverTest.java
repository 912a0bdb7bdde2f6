package dev.kvasir.tools.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Nullable;
import dev.kvasir.net.Network;
import java.net.URI;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A real server is loaded over real connections, and what it did is told as it was. */
@Timeout(180)
class LoadDriverTest {
  private static final Pacing OPEN = new Pacing.Open(100);

  private final Network network = Network.open(1);
  private final TestServer server = new TestServer(network, 2);

  @AfterEach
  void close() {
    server.close();
    network.close();
  }

  private OpenAiTarget target(String model) {
    return target(server.url(), model, TestServer.KEY);
  }

  private static OpenAiTarget target(URI url, String model, @Nullable String key) {
    return new OpenAiTarget(url, OpenAiTarget.Style.CHAT, model, key, OpenAiTarget.Lengths.FORCED);
  }

  private LoadReport run(OpenAiTarget target, Pacing pacing, Iterator<LoadRequest> requests)
      throws Exception {
    var settings =
        new LoadSettings(
            target, pacing, Duration.ofHours(1), Duration.ofSeconds(30), LoadTargets.NONE);
    return run(settings, requests);
  }

  private LoadReport run(LoadSettings settings, Iterator<LoadRequest> requests) throws Exception {
    try (var driver = new LoadDriver(network, settings, requests, null)) {
      return driver.start().get(60, TimeUnit.SECONDS);
    }
  }

  private static Iterator<LoadRequest> atOnce(int count) {
    return Stream.generate(() -> new LoadRequest(0, () -> "hello", 3, "s")).limit(count).iterator();
  }

  @Test
  void answersAreCountedAndTimed() throws Exception {
    var report = run(target("first"), OPEN, atOnce(20));
    assertThat(report.sent()).isEqualTo(20);
    assertThat(report.completed()).isEqualTo(20);
    assertThat(report.failures()).isEmpty();
    assertThat(report.tokens()).isEqualTo(new LoadReport.Tokens(200, 60, 120));
    assertThat(report.good()).isEqualTo(20);
    assertThat(report.ttftMillis().p50()).isGreaterThanOrEqualTo(2);
    assertThat(report.e2eMillis().p50()).isGreaterThanOrEqualTo(report.ttftMillis().p50());
    assertThat(report.itlMillis().max()).isPositive();
    assertThat(report.seconds()).isPositive();
    assertThat(server.sessions).containsOnly("s");
    var body = server.bodies.getFirst();
    assertThat(body.path("messages").path(0).path("content").asString()).isEqualTo("hello");
    assertThat(body.path("stream").asBoolean()).isTrue();
    assertThat(body.path("max_tokens").asInt()).isEqualTo(3);
    assertThat(body.path("ignore_eos").asBoolean()).isTrue();
  }

  @Test
  void callersAreNeverMoreThanThereAre() throws Exception {
    var report = run(target("first"), new Pacing.Closed(3), atOnce(30));
    assertThat(report.completed()).isEqualTo(30);
    assertThat(server.inFlightMax).hasValue(3);
  }

  @Test
  void waitingToBeSentCounts() throws Exception {
    var report = run(target("first"), new Pacing.Open(1), atOnce(10));
    assertThat(server.inFlightMax).hasValue(1);
    // Each answer takes three steps of two milliseconds, and the last waits for nine of them.
    assertThat(report.ttftMillis().max()).isGreaterThanOrEqualTo(9 * 3 * 2);
    assertThat(report.lateMillis().max()).isGreaterThanOrEqualTo(9 * 3 * 2);
  }

  @Test
  void targetsTellGoodAnswersFromOthers() throws Exception {
    var never = new LoadTargets(Duration.ofNanos(1), Duration.ZERO);
    var hour = Duration.ofHours(1);
    var report = run(new LoadSettings(target("first"), OPEN, hour, hour, never), atOnce(5));
    assertThat(report.completed()).isEqualTo(5);
    assertThat(report.good()).isZero();
    assertThat(report.attainment()).isZero();
  }

  @Test
  void failuresAreToldByKind() throws Exception {
    assertFailure("busy", "http 503", "come back later");
    assertFailure("broken", "in stream", "out of memory");
    assertFailure("short", "truncated", "[DONE]");
    assertFailure("cut", "connection", "");
  }

  private void assertFailure(String model, String kind, String message) throws Exception {
    var report = run(target(model), OPEN, atOnce(3));
    assertThat(report.completed()).isZero();
    assertThat(report.failed()).isEqualTo(3);
    assertThat(report.failures()).hasSize(1);
    assertThat(report.failures().getFirst().kind()).isEqualTo(kind);
    assertThat(report.failures().getFirst().count()).isEqualTo(3);
    assertThat(report.failures().getFirst().example()).contains(message);
  }

  @Test
  void answerThatDoesNotEndTimesOut() throws Exception {
    var settings =
        new LoadSettings(
            target("silent"), OPEN, Duration.ofHours(1), Duration.ofMillis(50), LoadTargets.NONE);
    var report = run(settings, atOnce(2));
    assertThat(report.failures()).extracting(LoadReport.Failure::kind).containsExactly("timeout");
  }

  @Test
  void loadThatIsStoppedTellsWhatThereIs() throws Exception {
    var hour = Duration.ofHours(1);
    var settings = new LoadSettings(target("silent"), OPEN, hour, hour, LoadTargets.NONE);
    try (var driver = new LoadDriver(network, settings, atOnce(2), null)) {
      var end = driver.start();
      while (server.bodies.size() < 2) Thread.sleep(1);
      driver.stop();
      var report = end.get(60, TimeUnit.SECONDS);
      assertThat(report.sent()).isEqualTo(2);
      assertThat(report.failed()).isZero();
      assertThat(report.unfinished()).isEqualTo(2);
    }
  }

  @Test
  void nobodyThereIsAFailureToConnect() throws Exception {
    var report = run(target(nowhere(), "first", null), OPEN, atOnce(2));
    assertThat(report.failures()).extracting(LoadReport.Failure::kind).containsExactly("connect");
  }

  @Test
  void nothingIsSentAfterTheDuration() throws Exception {
    var early = new LoadRequest(0, () -> "a", 1, "");
    var later = new LoadRequest(Duration.ofHours(2).toNanos(), () -> "b", 1, "");
    var report = run(target("first"), OPEN, Stream.of(early, later).iterator());
    assertThat(report.sent()).isEqualTo(1);
  }

  @Test
  void brokenTraceEndsTheLoad() {
    var broken = Stream.of(1).map(line -> new LoadRequest(-line, () -> "a", 1, "")).iterator();
    assertThatThrownBy(() -> run(target("first"), OPEN, broken))
        .hasRootCauseMessage("1 tokens asked for at -1 ns");
  }

  @Test
  void checkFindsTheModel() {
    assertThat(check(target(""))).isEqualTo(new LoadCheck.Ready("first", 4096));
    assertThat(check(target("second"))).isEqualTo(new LoadCheck.Ready("second", 0));
    assertUnusable(target("third"), "it has first, second");
  }

  @Test
  void checkSaysWhatToDo() {
    assertUnusable(target(server.url(), "", "wrong"), "--api-key");
    assertUnusable(target(nowhere(), "", null), "nothing listens at");
    assertUnusable(target(URI.create("http://no-such-host.invalid"), "", null), "no-such-host");
  }

  private void assertUnusable(OpenAiTarget target, String message) {
    assertThat(check(target))
        .isInstanceOfSatisfying(
            LoadCheck.Unusable.class, found -> assertThat(found.message()).contains(message));
  }

  private LoadCheck check(OpenAiTarget target) {
    return LoadCheck.of(network, target, Duration.ofSeconds(30));
  }

  /** A port that was free a moment ago. */
  private URI nowhere() {
    try (var gone = new TestServer(network, 1)) {
      return gone.url();
    }
  }
}
