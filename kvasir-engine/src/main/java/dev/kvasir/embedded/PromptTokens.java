package dev.kvasir.embedded;

import dev.kvasir.embedded.api.Call;
import dev.kvasir.embedded.api.CallReader;
import dev.kvasir.embedded.api.Prompt;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.Refused;
import dev.kvasir.net.server.Reply;
import dev.kvasir.net.worker.NamedTokens;
import dev.kvasir.text.ChatMessage;
import io.vertx.core.Future;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/** Turns what requests say into tokens: short texts at once, long ones beside the loop. */
public final class PromptTokens {
  /** Up to here the tokens are had in less time than a hand-over to another thread is worth. */
  private static final int INLINE_CHARS_MAX = 4_096;

  private final Network network;
  private final ServedModel model;

  public PromptTokens(Network network, ServedModel model) {
    this.network = network;
    this.model = model;
  }

  /** Returns the tokens of the prompt in a request; fails where there is none that can be read. */
  public Future<int[]> of(String path, byte[] body) {
    try {
      return of(CallReader.prompt(path, body));
    } catch (Refused e) {
      return Future.failedFuture(e);
    }
  }

  private Future<int[]> of(Prompt prompt) {
    if (chars(prompt) <= INLINE_CHARS_MAX) return Future.succeededFuture(tokens(prompt));
    return network
        .vertx()
        .executeBlocking(() -> tokens(prompt), false)
        .map(tokens -> Objects.requireNonNull(tokens));
  }

  /** Calls {@code then} with the tokens on the connection's loop, or answers what is wrong. */
  void of(Reply reply, Prompt prompt, Consumer<int[]> then) {
    if (chars(prompt) <= INLINE_CHARS_MAX) {
      then.accept(tokens(prompt));
      return;
    }
    of(prompt)
        .onComplete(
            tokens -> reply.guard(() -> then.accept(tokens)),
            failure -> reply.guard(() -> rethrow(failure)));
  }

  private static void rethrow(Throwable failure) {
    if (failure instanceof Refused refused) throw refused;
    throw new IllegalStateException("a prompt could not be turned into tokens", failure);
  }

  private static long chars(Prompt prompt) {
    return switch (prompt) {
      case Prompt.Chat(var messages) ->
          messages.stream().mapToLong(message -> message.content().length()).sum();
      case Prompt.Text(String text) -> text.length();
      case Prompt.Tokens _ -> 0;
    };
  }

  private int[] tokens(Prompt prompt) {
    try {
      return switch (prompt) {
        case Prompt.Chat(var messages) -> chat(messages);
        case Prompt.Text(String text) -> model.tokenizer().encodeWithSpecials(text);
        case Prompt.Tokens(var tokens) -> known(tokens);
      };
    } catch (IllegalArgumentException e) {
      throw new Refused(ApiError.badRequest(String.valueOf(e.getMessage())));
    }
  }

  private int[] chat(List<ChatMessage> messages) {
    var template = model.chat();
    if (template.isEmpty()) {
      throw new Refused(
          ApiError.badRequest("no conversations with this model: " + model.chatRefusal()));
    }
    return template.get().encode(messages);
  }

  private int[] known(List<Integer> tokens) {
    for (int token : tokens) {
      if (token >= model.tokenizer().size()) {
        throw new Refused(
            ApiError.badField(
                "prompt",
                "there is no token " + token + ", the last is " + (model.tokenizer().size() - 1)));
      }
    }
    return tokens.stream().mapToInt(Integer::intValue).toArray();
  }

  /**
   * Returns what the engine is asked for; throws {@link Refused} if it cannot fit into the model's
   * context.
   */
  GenerationRequest request(String id, String tenant, Call call, NamedTokens named) {
    var prompt = named.tokens();
    int context = model.contextTokens();
    if (prompt.length == 0) throw new Refused(ApiError.badRequest("the prompt is empty"));
    if ((long) prompt.length + Math.max(1, call.tokensMax()) > context) {
      throw new Refused(
          ApiError.of(
              400,
              "invalid_request_error",
              "context_length_exceeded",
              "the prompt has %s tokens and the answer may have %s, the model's context is %s: "
                      .formatted(prompt.length, Math.max(1, call.tokensMax()), context)
                  + "shorten the prompt or lower max_tokens"));
    }
    int most = call.tokensMax() == 0 ? context - prompt.length : call.tokensMax();
    int least = call.ignoresEnd() ? most : Math.min(most, call.tokensMin());
    return new GenerationRequest(
            id,
            salt(tenant, call.salt()),
            prompt,
            least,
            most,
            call.sampling(),
            call.stops(),
            call.priority())
        .named(named.names());
  }

  /**
   * Returns the salt of the names of a request's blocks, by the tenant that sent it and what it
   * says.
   */
  static String salt(String tenant, String callerSalt) {
    return tenant.isEmpty() && callerSalt.isEmpty() ? "" : tenant + '\0' + callerSalt;
  }

  void tokenize(Reply reply) {
    var prompt = CallReader.tokenized(reply.body().getBytes());
    of(
        reply,
        prompt,
        tokens -> {
          var list = Json.array();
          for (int token : tokens) list.add(token);
          var answer = Json.object().put("count", tokens.length);
          answer.put("max_model_len", model.contextTokens()).set("tokens", list);
          reply.answer(200, answer.toString());
        });
  }

  void detokenize(Reply reply) {
    var tokens = known(CallReader.tokens(reply.body().getBytes()));
    var answer = Json.object().put("prompt", model.tokenizer().decode(tokens));
    reply.answer(200, answer.toString());
  }
}
