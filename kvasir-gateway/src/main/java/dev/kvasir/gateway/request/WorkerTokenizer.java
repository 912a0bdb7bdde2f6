package dev.kvasir.gateway.request;

import dev.kvasir.gateway.request.PromptNaming.NoTokens;
import dev.kvasir.gateway.request.PromptNaming.Used;
import dev.kvasir.gateway.worker.Upstream;
import dev.kvasir.gateway.worker.WholeCall;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Json;
import dev.kvasir.net.Refused;
import dev.kvasir.net.worker.WorkerMessage;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;

/** Asks the workers for the tokens of a prompt, each in turn, as vLLM and SGLang offer it. */
public final class WorkerTokenizer implements PromptTokenizer {
  /**
   * Time that an answer may take. A busy vLLM takes 0.1 s for a prompt of 30 kB and 0.8 s for one
   * of 500 kB; a request waits no longer than this for its tokens.
   *
   * @param least time for a short prompt
   * @param perKib additional time for each KiB of the prompt
   * @param most time for any prompt at most
   */
  public record Time(Duration least, Duration perKib, Duration most) {
    public static final Time DEFAULT =
        new Time(Duration.ofMillis(100), Duration.ofMillis(3), Duration.ofSeconds(5));

    public Duration of(int bytes) {
      var time = least.plus(perKib.multipliedBy(bytes / 1_024));
      return time.compareTo(most) > 0 ? most : time;
    }
  }

  private static final String[] COMPLETION_FIELDS = {"model", "prompt", "add_special_tokens"};
  private static final String[] CHAT_FIELDS = {
    "model",
    "messages",
    "tools",
    "add_special_tokens",
    "add_generation_prompt",
    "chat_template",
    "chat_template_kwargs"
  };

  private final Upstream upstream;
  private final Function<String, List<Worker>> ready;
  private final Time time;
  private final AtomicInteger turn = new AtomicInteger();

  /**
   * One that asks over this upstream.
   *
   * @param ready the workers that serve a model
   */
  public WorkerTokenizer(Upstream upstream, Function<String, List<Worker>> ready, Time time) {
    this.upstream = upstream;
    this.ready = ready;
    this.time = time;
  }

  @Override
  public Future<int[]> tokens(Context context, String path, byte[] fields) {
    return tokens(context, path, RequestFields.of(fields));
  }

  @Override
  public Future<int[]> tokens(Context context, String path, RequestFields request) {
    var model = request.text("model");
    var workers = ready.apply(model);
    if (workers.isEmpty()) {
      return Future.failedFuture(
          new NoTokens(Used.NO_WORKER, "no worker can tell the tokens of '" + model + "'"));
    }
    var worker = workers.get(Math.floorMod(turn.getAndIncrement(), workers.size()));
    var body = request.only(path.equals(ApiPath.CHAT.path()) ? CHAT_FIELDS : COMPLETION_FIELDS);
    var message = WorkerMessage.post("/tokenize", MultiMap.caseInsensitiveMultiMap(), body);
    var limit = time.of(body.length());
    long begun = System.nanoTime();
    return WholeCall.send(upstream, context, worker, message, limit)
        .recover(
            failure -> {
              boolean late = System.nanoTime() - begun >= limit.toNanos();
              return Future.failedFuture(
                  new NoTokens(
                      late ? Used.TIMEOUT : Used.ERROR, String.valueOf(failure.getMessage())));
            })
        .map(WorkerTokenizer::read);
  }

  private static int[] read(WholeCall.Reply reply) {
    if (reply.status() != 200) {
      throw new NoTokens(Used.REFUSED, "/tokenize answered " + reply.status());
    }
    try {
      var tokens = tokens(reply.body().getBytes());
      if (tokens.length == 0) throw new NoTokens(Used.ERROR, "no tokens in the answer");
      return tokens;
    } catch (Refused | JacksonException e) {
      throw new NoTokens(Used.ERROR, "an answer that cannot be read");
    }
  }

  /** The numbers of the field; a tree of a million would take many times their bytes. */
  private static int[] tokens(byte[] answer) {
    var tokens = IntStream.builder();
    try (var parser = Json.factory().createParser(ObjectReadContext.empty(), answer)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) return new int[0];
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        boolean isWanted = parser.currentName().equals("tokens");
        if (parser.nextToken() != JsonToken.START_ARRAY || !isWanted) {
          Json.skip(parser, () -> {});
          continue;
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) return new int[0];
          tokens.add(parser.getIntValue());
        }
      }
    }
    return tokens.build().toArray();
  }
}
