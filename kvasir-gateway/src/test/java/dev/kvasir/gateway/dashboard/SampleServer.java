package dev.kvasir.gateway.dashboard;

import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Endpoints;
import dev.kvasir.net.server.EventStream;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.net.server.HttpFront;
import dev.kvasir.net.server.HttpSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A server with the dashboard, whose figures are set by hand and whose answers are written down.
 */
final class SampleServer implements AutoCloseable {
  static final String ANSWER =
      "A KV cache keeps the keys and values that attention has already computed for the tokens"
          + " of a prompt. Whoever begins with the same tokens again does not pay for them twice.";

  /** A question that begins so is answered with the rest of it. */
  static final String SAY = "Say ";

  /** A question that begins so is answered with one word, and more when the server goes on. */
  static final String WAIT = "Wait";

  private static final int PACE_MILLIS = 8;

  private final Network network = Network.open(1);
  private final AtomicReference<DashboardSource> source = new AtomicReference<>(Sample::quiet);
  private final BlockingQueue<Runnable> held = new LinkedBlockingQueue<>();
  private HttpFront front = start(HttpSettings.local(0));

  private HttpFront start(HttpSettings settings) {
    var endpoints = new ArrayList<>(Dashboard.endpoints(() -> source.get().snapshot()));
    endpoints.add(Endpoint.post("/v1/chat/completions", Access.KEY, this::answer));
    return HttpFront.start(network, settings, Endpoints.of(endpoints));
  }

  String url() {
    return front.url();
  }

  void show(DashboardState next) {
    source.set(() -> next);
  }

  /** Has no figures until others are shown. */
  void fail() {
    source.set(
        () -> {
          throw new IllegalStateException("a bug on purpose");
        });
  }

  void use(ApiKeys keys) {
    front.use(keys);
  }

  /** Stops listening; comes back where it was. */
  void stop() {
    front.close();
  }

  void comeBack() {
    front = start(HttpSettings.local(front.port()));
  }

  private void answer(Exchange exchange) {
    var request = Json.read(exchange.body().getBytes());
    if (exchange.header("x-kvasir-explain") != null) {
      exchange
          .response()
          .putHeader("x-kvasir-instance", "engine-2")
          .putHeader("x-kvasir-prefill-instance", "engine-1")
          .putHeader("x-kvasir-reason", "p_idle_d_busy");
    }
    var messages = request.path("messages");
    var question = messages.get(messages.size() - 1).path("content").asString();
    var text = question.startsWith(SAY) ? question.substring(SAY.length()) : ANSWER;
    var answer = new Answer(exchange.stream(), List.of(text.split("(?= )")), messages.size());
    if (question.startsWith(WAIT)) {
      answer.send(0);
      held.add(() -> write(answer, 1));
    } else {
      write(answer, 0);
    }
  }

  /** Goes on with an answer that waits. */
  void goOn() throws InterruptedException {
    held.take().run();
  }

  private void write(Answer answer, int next) {
    if (answer.send(next)) {
      network.vertx().setTimer(PACE_MILLIS, _ -> write(answer, next + 1));
    }
  }

  /** One answer, word by word. */
  private record Answer(EventStream stream, List<String> words, int messages) {
    /** Sends the next chunk, and returns whether there are more to come. */
    boolean send(int next) {
      var chunk = Json.object();
      var choices = chunk.putArray("choices");
      if (next < words.size()) {
        choices.addObject().putObject("delta").put("content", words.get(next));
        return stream.send(chunk.toString());
      }
      var usage = chunk.putObject("usage");
      usage.put("prompt_tokens", 24 * messages).put("completion_tokens", words.size());
      // All but the last question was there before.
      usage.putObject("prompt_tokens_details").put("cached_tokens", 24 * (messages - 1));
      stream.send(chunk.toString());
      stream.done();
      return false;
    }
  }

  @Override
  public void close() {
    network.close();
  }
}
