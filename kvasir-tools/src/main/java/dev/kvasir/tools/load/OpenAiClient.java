package dev.kvasir.tools.load;

import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.Refused;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/** Asks an OpenAI-compatible server, and notes when each piece of its answers comes. */
final class OpenAiClient {
  /** Servers close idle connections after five seconds; ours must be the first to give up. */
  private static final int KEEP_ALIVE_SECONDS = 4;

  private static final int CONNECT_MILLIS = 10_000;
  private static final int BODY_BYTES_MAX = 1 << 20;

  private final Network network;
  private final OpenAiTarget target;
  private final HttpClient http;
  private final Duration timeout;
  private final LongSupplier clock;

  OpenAiClient(
      Network network, OpenAiTarget target, int inFlightMax, Duration timeout, LongSupplier clock) {
    this.network = network;
    this.target = target;
    this.timeout = timeout;
    this.clock = clock;
    var options =
        new HttpClientOptions()
            .setKeepAliveTimeout(KEEP_ALIVE_SECONDS)
            .setConnectTimeout(CONNECT_MILLIS)
            .setTcpNoDelay(true);
    var pool = new PoolOptions().setHttp1MaxSize(inFlightMax);
    this.http = network.vertx().createHttpClient(options, pool);
  }

  /** Asks on a loop of the network: elsewhere an answer could come before anybody listens. */
  private void onLoop(Runnable task) {
    network.vertx().getOrCreateContext().runOnContext(_ -> task.run());
  }

  /** The models the server has, with the tokens of their contexts; 0 where it does not tell. */
  Future<Map<String, Integer>> models() {
    var models = Promise.<Map<String, Integer>>promise();
    onLoop(() -> requestModels().onComplete(models));
    return models.future();
  }

  private Future<Map<String, Integer>> requestModels() {
    return http.request(options(HttpMethod.GET, "/v1/models"))
        .compose(HttpClientRequest::send)
        .compose(
            response ->
                response.statusCode() == 200
                    ? response.body().map(OpenAiClient::contexts)
                    : refused(response).compose(Future::failedFuture));
  }

  private static Map<String, Integer> contexts(Buffer body) {
    var contexts = new LinkedHashMap<String, Integer>();
    for (var model : Json.read(body.getBytes()).path("data")) {
      contexts.put(model.path("id").asString(""), model.path("max_model_len").asInt(0));
    }
    return contexts;
  }

  /** Sends one request; whatever happens, there is an answer. */
  Future<Answer> send(LoadRequest request) {
    var answer = Promise.<Answer>promise();
    // Long prompts are made before, and not where the pieces of other answers are timed.
    var body = body(request);
    onLoop(
        () ->
            http.request(options(HttpMethod.POST, target.style().path()))
                .compose(sent -> stream(sent, request.session(), body, answer))
                .onFailure(failure -> answer.tryComplete(failed(failure))));
    return answer.future();
  }

  private Future<Void> stream(
      HttpClientRequest sent, String session, Buffer body, Promise<Answer> answer) {
    long timer =
        network
            .vertx()
            .setTimer(
                timeout.toMillis(),
                _ -> {
                  answer.tryComplete(new Answer.Failed("timeout", "no end within " + timeout));
                  sent.reset();
                });
    answer.future().onComplete(_ -> network.vertx().cancelTimer(timer));
    sent.putHeader(HttpHeaders.CONTENT_TYPE, "application/json");
    if (!session.isEmpty()) sent.putHeader("x-session-id", session);
    return sent.send(body).compose(response -> read(response, answer));
  }

  private Future<Void> read(HttpClientResponse response, Promise<Answer> answer) {
    if (response.statusCode() != 200) {
      return refused(response).onSuccess(refusal -> answer.tryComplete(failed(refusal))).mapEmpty();
    }
    var reading = new Reading(clock);
    response.handler(reading::feed);
    response.exceptionHandler(failure -> answer.tryComplete(broken(reading, failure)));
    response.endHandler(_ -> answer.tryComplete(reading.end()));
    return Future.succeededFuture();
  }

  /** A connection that breaks after the end has been told has done no harm. */
  private static Answer broken(Reading reading, Throwable failure) {
    return reading.isOver() ? reading.end() : failed(failure);
  }

  private static Future<RefusedAnswer> refused(HttpClientResponse response) {
    return response
        .body()
        .map(body -> new RefusedAnswer(response.statusCode(), errorMessage(body)));
  }

  private static String errorMessage(Buffer body) {
    if (body.length() > BODY_BYTES_MAX) return "";
    try {
      return Reading.message(Json.read(body.getBytes()));
    } catch (Refused e) {
      return "";
    }
  }

  static Answer.Failed failed(Throwable failure) {
    var message = String.valueOf(failure.getMessage());
    return switch (failure) {
      case RefusedAnswer refusal -> new Answer.Failed("http " + refusal.status(), message);
      case UnknownHostException _ -> new Answer.Failed("connect", "unknown host " + message);
      case ConnectException _ -> new Answer.Failed("connect", message);
      case TimeoutException _ -> new Answer.Failed("timeout", message);
      default -> new Answer.Failed("connection", message);
    };
  }

  private RequestOptions options(HttpMethod method, String path) {
    var options = new RequestOptions().setMethod(method).setAbsoluteURI(target.at(path));
    if (target.key() != null) {
      options.putHeader(HttpHeaders.AUTHORIZATION, "Bearer " + target.key());
    }
    return options;
  }

  private Buffer body(LoadRequest request) {
    var body = Json.object();
    body.put("model", target.model());
    switch (target.style()) {
      case CHAT -> {
        var message = body.putArray("messages").addObject();
        message.put("role", "user");
        message.put("content", request.prompt().get());
      }
      case COMPLETIONS -> body.put("prompt", request.prompt().get());
    }
    body.put("max_tokens", request.outputTokens());
    body.put("temperature", 0);
    body.put("stream", true);
    body.putObject("stream_options").put("include_usage", true);
    if (target.lengths() == OpenAiTarget.Lengths.FORCED) body.put("ignore_eos", true);
    return Buffer.buffer(body.toString());
  }
}
