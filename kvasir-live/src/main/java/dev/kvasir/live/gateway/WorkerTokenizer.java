package dev.kvasir.live.gateway;

import dev.kvasir.live.http.Json;
import dev.kvasir.live.http.Refused;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Asks the workers for the tokens of a prompt, each in turn, as vLLM and SGLang offer it. */
final class WorkerTokenizer implements PromptTokenizer {
  private final Upstream upstream;
  private final Supplier<List<Worker>> ready;
  private final Duration time;
  private final AtomicInteger turn = new AtomicInteger();

  WorkerTokenizer(Upstream upstream, Supplier<List<Worker>> ready, Duration time) {
    this.upstream = upstream;
    this.ready = ready;
    this.time = time;
  }

  @Override
  public Future<int[]> tokens(Context context, String path, byte[] fields) {
    var workers = ready.get();
    if (workers.isEmpty()) return Future.failedFuture("no worker to ask for tokens");
    var worker = workers.get(Math.floorMod(turn.getAndIncrement(), workers.size()));
    var body =
        RequestFields.of(fields)
            .only(
                "model",
                "prompt",
                "messages",
                "tools",
                "add_special_tokens",
                "add_generation_prompt",
                "chat_template",
                "chat_template_kwargs");
    var message = Upstream.Message.post("/tokenize", MultiMap.caseInsensitiveMultiMap(), body);
    return WholeCall.send(upstream, context, worker, message, time).map(WorkerTokenizer::read);
  }

  private static int[] read(WholeCall.Reply reply) {
    try {
      var list = Json.read(reply.body().getBytes()).path("tokens");
      var tokens = new int[list.size()];
      for (int i = 0; i < tokens.length; i++) tokens[i] = list.path(i).asInt(0);
      if (tokens.length == 0) throw new IllegalStateException("no tokens in the answer");
      return tokens;
    } catch (Refused e) {
      throw new IllegalStateException("an answer that cannot be read", e);
    }
  }
}
