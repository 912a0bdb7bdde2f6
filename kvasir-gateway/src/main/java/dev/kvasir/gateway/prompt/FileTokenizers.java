package dev.kvasir.gateway.prompt;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.prompt.ModelText.Contents;
import dev.kvasir.gateway.request.PromptTokenizer;
import dev.kvasir.gateway.request.RequestFields;
import dev.kvasir.net.Refused;
import dev.kvasir.net.metrics.MetricSet;
import dev.kvasir.net.metrics.MetricsText;
import dev.kvasir.net.metrics.MetricsText.Label;
import dev.kvasir.text.UnsupportedText;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Makes the tokens of prompts from the files of their models, where these were found to agree with
 * a worker; otherwise workers are asked.
 *
 * <p>Before a model's files are used, a worker is asked for the tokens of a few prompts: only kinds
 * of requests of which all came out alike are tokenised here. From any thread.
 */
public final class FileTokenizers implements PromptTokenizer {
  /** By what prompts were tokenised, and why not here. */
  private enum Used {
    FILE("file", ""),
    /** The prompt came as tokens. */
    REQUEST("request", ""),
    NO_FILE("worker", "no_file"),
    UNCHECKED("worker", "unchecked"),
    DIFFERS("worker", "differs"),
    UNSUPPORTED("worker", "unsupported");

    private final String by;
    private final String reason;

    Used(String by, String reason) {
      this.by = by;
      this.reason = reason;
    }
  }

  /** Requests of one kind agree with a worker or do not, all of them. */
  private enum Kind {
    COMPLETION,
    CHAT,
    TOOLS
  }

  /** A prompt whose tokens a worker is asked for. */
  private record Sample(Kind kind, String path, String body) {}

  /** Result of a check: which kinds agree, and how contents are handed to the template. */
  private record Found(Set<Kind> kinds, Contents contents, long nanos) {}

  /** One model. */
  private static final class Model {
    private final String name;
    private final ModelText text;
    private final AtomicBoolean checking = new AtomicBoolean();
    private final AtomicBoolean isUnsupportedLogged = new AtomicBoolean();
    private volatile @Nullable Found found;

    Model(String name, ModelText text) {
      this.name = name;
      this.text = text;
    }
  }

  private static final System.Logger LOG = System.getLogger(FileTokenizers.class.getName());
  private static final String CHAT = "/v1/chat/completions";
  private static final String COMPLETIONS = "/v1/completions";
  private static final Duration CHECK_PACE = Duration.ofMinutes(5);

  private static final List<Sample> SAMPLES =
      List.of(
          new Sample(Kind.COMPLETION, COMPLETIONS, "\"prompt\": \"" + Samples.TEXT + "\""),
          new Sample(Kind.CHAT, CHAT, Samples.ASKED),
          new Sample(Kind.CHAT, CHAT, Samples.TURNS),
          new Sample(Kind.CHAT, CHAT, Samples.PARTS),
          new Sample(Kind.TOOLS, CHAT, Samples.TOOLS));

  private final Map<String, Model> models = new TreeMap<>();
  private final PromptTokenizer workers;
  public static final MetricSet<FileTokenizers> METRICS =
      new MetricSet<FileTokenizers>()
          .per(
              tally -> tally.counts.entrySet(),
              entry ->
                  List.of(
                      new Label("by", entry.getKey().by),
                      new Label("reason", entry.getKey().reason)),
              rows ->
                  rows.counter(
                      "kvasir_prompts_tokenized_total",
                      "Prompts by who made their tokens: a file, the request itself or a worker,"
                          + " and why.",
                      entry -> entry.getValue().sum()));

  private final EnumMap<Used, LongAdder> counts = new EnumMap<>(Used.class);

  /**
   * One for these models.
   *
   * @param texts by the name that requests give a model; the empty name is for all others
   * @param workers asks a worker
   */
  public FileTokenizers(Map<String, ModelText> texts, PromptTokenizer workers) {
    texts.forEach((name, text) -> models.put(name, new Model(name, text)));
    this.workers = workers;
    for (var used : Used.values()) counts.put(used, new LongAdder());
  }

  @Override
  public Future<int[]> tokens(Context context, String path, byte[] fields) {
    RequestFields read;
    try {
      read = RequestFields.of(fields);
    } catch (Refused e) {
      count(Used.UNSUPPORTED);
      return workers.tokens(context, path, fields);
    }
    return tokens(context, path, read);
  }

  @Override
  public Future<int[]> tokens(Context context, String path, RequestFields fields) {
    var tree = fields.tree();
    if (tree != null) return tokens(context, path, fields, tree);
    return fields
        .work(context, fields::read)
        .compose(
            read -> tokens(context, path, fields, read),
            _ -> requestTokens(context, path, fields, Used.UNSUPPORTED));
  }

  private Future<int[]> tokens(
      Context context, String path, RequestFields fields, JsonNode request) {
    var given = given(path, request);
    if (given != null) {
      count(Used.REQUEST);
      return Future.succeededFuture(given);
    }
    var model = model(request.path("model").asString(""));
    if (model == null) return requestTokens(context, path, fields, Used.NO_FILE);
    var found = model.found;
    if (found == null || System.nanoTime() - found.nanos > CHECK_PACE.toNanos()) {
      check(context, model, request.path("model").asString(""));
    }
    if (found == null) return requestTokens(context, path, fields, Used.UNCHECKED);
    if (!found.kinds.contains(kind(path, request))) {
      return requestTokens(context, path, fields, Used.DIFFERS);
    }
    return make(context, path, fields, request, model, found);
  }

  @Override
  public void prepare(Context context, Collection<String> served) {
    for (var name : served) {
      var model = model(name);
      if (model != null && model.found == null) check(context, model, name);
    }
  }

  /** A long prompt is left to another thread, so that others do not wait for it. */
  private Future<int[]> make(
      Context context,
      String path,
      RequestFields fields,
      JsonNode request,
      Model model,
      Found found) {
    var made = fields.work(context, () -> tokens(model, path, request, found.contents));
    return made.onSuccess(_ -> count(Used.FILE))
        .recover(
            failure -> {
              logUnsupported(model, failure);
              return requestTokens(context, path, fields, Used.UNSUPPORTED);
            });
  }

  private void logUnsupported(Model model, Throwable failure) {
    if (model.isUnsupportedLogged.getAndSet(true)) return;
    LOG.log(
        WARNING,
        "a worker is asked for the tokens of a request for model \"{0}\", since {1};"
            + " kvasir_prompts_tokenized_total'{'reason=\"unsupported\"'}' counts such requests",
        model.name,
        failure.getMessage());
  }

  private static int[] tokens(Model model, String path, JsonNode request, Contents contents)
      throws UnsupportedText {
    if (path.equals(CHAT)) return model.text.chat(request, contents);
    if (path.equals(COMPLETIONS)) return model.text.completion(request);
    throw new UnsupportedText(path);
  }

  /** The tokens of a prompt that came as such; null for any other. */
  private static int @Nullable [] given(String path, JsonNode request) {
    var prompt = request.path("prompt");
    if (!path.equals(COMPLETIONS) || !prompt.isArray() || prompt.isEmpty()) return null;
    var tokens = new int[prompt.size()];
    for (int i = 0; i < tokens.length; i++) {
      if (!prompt.path(i).isInt()) return null;
      tokens[i] = prompt.path(i).asInt();
    }
    return tokens;
  }

  private @Nullable Model model(String name) {
    var model = models.get(name);
    if (model == null && name.isEmpty() && models.size() == 1) {
      return models.values().iterator().next();
    }
    return model == null ? models.get("") : model;
  }

  private static Kind kind(String path, JsonNode request) {
    if (!path.equals(CHAT)) return Kind.COMPLETION;
    if (!request.path("tools").isMissingNode()) return Kind.TOOLS;
    for (var message : request.path("messages")) {
      if (message.has("tool_calls") || message.path("role").asString("").equals("tool")) {
        return Kind.TOOLS;
      }
    }
    return Kind.CHAT;
  }

  private Future<int[]> requestTokens(
      Context context, String path, RequestFields fields, Used why) {
    count(why);
    return workers.tokens(context, path, fields);
  }

  /** Asks a worker for all samples, and compares; one check of a model at a time. */
  private void check(Context context, Model model, String name) {
    if (model.checking.getAndSet(true)) return;
    var answers = new ArrayList<Future<int[]>>();
    for (var sample : SAMPLES) {
      var named = "{\"model\": " + JsonMapper.shared().writeValueAsString(name) + ", ";
      var body = (named + sample.body + "}").getBytes(StandardCharsets.UTF_8);
      answers.add(workers.tokens(context, sample.path, body));
    }
    Future.join(answers)
        .onComplete(
            _ -> {
              // One that was not answered is asked for again, at the next request.
              boolean all = answers.stream().allMatch(FileTokenizers::isAnswer);
              if (all && answers.stream().anyMatch(Future::succeeded)) conclude(model, answers);
              model.checking.set(false);
            });
  }

  private static boolean isAnswer(Future<int[]> answer) {
    return answer.succeeded() || PromptTokenizer.isRefusal(answer.cause());
  }

  private void conclude(Model model, List<Future<int[]>> answers) {
    var best = new Found(EnumSet.noneOf(Kind.class), Contents.TEXTS, System.nanoTime());
    for (var contents : Contents.values()) {
      var kinds = EnumSet.allOf(Kind.class);
      if (!model.text.hasTemplate()) kinds.retainAll(Set.of(Kind.COMPLETION));
      for (int i = 0; i < SAMPLES.size(); i++) {
        if (!isSame(model, SAMPLES.get(i), contents, answers.get(i))) {
          kinds.remove(SAMPLES.get(i).kind);
        }
      }
      if (kinds.size() > best.kinds.size()) best = new Found(kinds, contents, System.nanoTime());
    }
    logFound(model, best);
    model.found = best;
  }

  /** Returns whether both give the same tokens, or both refuse. */
  private static boolean isSame(
      Model model, Sample sample, Contents contents, Future<int[]> answer) {
    var request = JsonMapper.shared().readTree("{" + sample.body + "}");
    try {
      var tokens = tokens(model, sample.path, request, contents);
      return answer.succeeded() && Arrays.equals(tokens, answer.result());
    } catch (UnsupportedText e) {
      return answer.failed();
    }
  }

  private void logFound(Model model, Found found) {
    var before = model.found;
    if (before != null && before.kinds.equals(found.kinds)) return;
    var missing = EnumSet.complementOf(EnumSet.copyOf(all(found.kinds)));
    LOG.log(
        missing.isEmpty() ? INFO : WARNING,
        "the tokenizer file of model \"{0}\" agrees with a worker on {1}; workers are asked for"
            + " {2}",
        model.name,
        found.kinds,
        missing);
  }

  private static Set<Kind> all(Set<Kind> kinds) {
    var copy = EnumSet.noneOf(Kind.class);
    copy.addAll(kinds);
    return copy;
  }

  private void count(Used used) {
    Objects.requireNonNull(counts.get(used)).increment();
  }

  @Override
  public void write(MetricsText out) {
    METRICS.write(this, out);
  }
}
