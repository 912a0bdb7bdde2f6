package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.journal.PromptNames;
import dev.kvasir.gateway.worker.ModelNames;
import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.net.metrics.MetricSet;
import dev.kvasir.net.metrics.MetricsText.Label;
import dev.kvasir.net.worker.NamedTokens;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.EnumMap;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * Names prompts by their tokens where those are known in time, else by their bytes, and counts
 * which.
 *
 * <p>KV events name blocks by tokens, so that a prompt named by its bytes is found nowhere. From
 * any thread.
 */
public final class PromptNaming {
  /** Basis of a prompt's names, which is its tokens or its bytes, and the reason for it. */
  enum Used {
    TOKENS("tokens", ""),
    CONFIGURED("bytes", "configured"),
    /** Text to embed or to score, which is made into several prompts by rules of the model. */
    EMBEDDINGS("bytes", "embeddings"),
    /** A form of request whose chat is not known here. */
    FORM("bytes", "form"),
    /** The tokens of an image are placeholders, the same for every image. */
    MEDIA("bytes", "media"),
    NO_WORKER("bytes", "no_worker"),
    TIMEOUT("bytes", "timeout"),
    REFUSED("bytes", "refused"),
    ERROR("bytes", "error");

    private final String by;
    private final String reason;

    Used(String by, String reason) {
      this.by = by;
      this.reason = reason;
    }
  }

  /** Reason why there are no tokens. */
  static final class NoTokens extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final Used used;

    NoTokens(Used used, String message) {
      super(message, null, false, false);
      this.used = used;
    }

    Used used() {
      return used;
    }
  }

  /**
   * A prompt to be named.
   *
   * @param path where the request was sent
   * @param model as the request names it
   * @param salt as it reaches the worker; empty for none
   * @param hasMedia whether parts of it are no text
   */
  record Prompt(ApiPath path, RequestFields fields, String model, String salt, boolean hasMedia) {}

  /**
   * A prompt with its names.
   *
   * @param tokens null where it was named by its bytes
   */
  record Named(PromptNames names, @Nullable NamedTokens tokens) {}

  /** Of a request for which no engine computes anything. */
  private static final Named NOTHING = new Named(new PromptNames(0, List.of()), null);

  private static final long KNOWN_TOKENS_MAX = 1 << 19;

  private final KnownNames known = new KnownNames(KNOWN_TOKENS_MAX);
  private final PromptTokenizer tokenizer;
  private final Routing.Naming naming;
  private final int blockTokens;
  private final Supplier<ModelNames> models;
  public static final MetricSet<PromptNaming> METRICS =
      new MetricSet<PromptNaming>()
          .per(
              tally -> tally.counts.entrySet(),
              entry ->
                  List.of(
                      new Label("by", entry.getKey().by),
                      new Label("reason", entry.getKey().reason)),
              rows ->
                  rows.counter(
                      "kvasir_prompts_named_total",
                      "Prompts by what they were named by, and why not by tokens; KV events match"
                          + " tokens.",
                      entry -> entry.getValue().sum()));

  private final EnumMap<Used, LongAdder> counts = new EnumMap<>(Used.class);

  public PromptNaming(PromptTokenizer tokenizer, Routing routing, Supplier<ModelNames> models) {
    this.tokenizer = tokenizer;
    this.naming = routing.naming();
    this.blockTokens = routing.settings().blockTokens();
    this.models = models;
    for (var used : Used.values()) counts.put(used, new LongAdder());
  }

  /** Answers on the context; fails only where the prompt cannot be named at all. */
  Future<Named> names(Context context, Prompt prompt) {
    if (prompt.path().work() == ApiPath.Work.NONE) return Future.succeededFuture(NOTHING);
    var model = models.get().of(prompt.model());
    if (naming == Routing.Naming.BYTES) return byBytes(context, prompt, model, Used.CONFIGURED);
    var path = prompt.path().tokenisedAs();
    if (path == null) return byBytes(context, prompt, model, Used.EMBEDDINGS);
    return work(context, prompt, () -> chat(prompt))
        .compose(chat -> tokenizer.tokens(context, path.path(), chat))
        .transform(
            tokens -> {
              if (tokens.failed()) return byBytes(context, prompt, model, why(tokens.cause()));
              count(Used.TOKENS);
              return work(context, prompt, () -> byTokens(tokens.result(), model, prompt.salt()));
            });
  }

  private static <T> Future<T> work(Context context, Prompt prompt, Callable<T> work) {
    return prompt.fields().work(context, work);
  }

  /** The fields of a chat or completion with the same prompt. */
  private static RequestFields chat(Prompt prompt) {
    if (prompt.hasMedia()) {
      throw new NoTokens(Used.MEDIA, "images, audio or files");
    }
    // Its prompt is that of a chat or a completion already, and it has been read.
    if (prompt.path() == prompt.path().tokenisedAs()) return prompt.fields();
    var body = ChatForm.of(prompt.path(), prompt.fields());
    if (body == null) throw new NoTokens(Used.FORM, "no chat");
    return RequestFields.of(body);
  }

  private Named byTokens(int[] tokens, String model, String salt) {
    var names = BlockNamer.ofTokens(tokens, tokenizer.hasher(model, salt), blockTokens, known);
    return new Named(names, new NamedTokens(tokens, names.blocks()));
  }

  private Future<Named> byBytes(Context context, Prompt prompt, String model, Used why) {
    count(why);
    return work(
        context,
        prompt,
        () -> {
          var names =
              BlockNamer.ofBytes(prompt.path(), prompt.fields(), model, prompt.salt(), blockTokens);
          return new Named(names, null);
        });
  }

  private void count(Used used) {
    Objects.requireNonNull(counts.get(used)).increment();
  }

  private static Used why(Throwable failure) {
    return failure instanceof NoTokens missing ? missing.used() : Used.ERROR;
  }
}
