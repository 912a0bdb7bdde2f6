package dev.kvasir.tools.doctor;

import dev.kvasir.Nullable;
import dev.kvasir.events.EngineEvent;
import dev.kvasir.events.KvEventSubscriber;
import dev.kvasir.events.SubscriberSettings;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.net.Threads;
import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import dev.kvasir.router.index.KvFeed;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import tools.jackson.databind.JsonNode;

/**
 * Asks a vLLM or SGLang server what the router needs of it, and says what is missing and how to get
 * it. It answers a few short requests for that.
 */
public final class WorkerProbe {
  /**
   * Worker to probe.
   *
   * @param events where it publishes its KV events; empty if unknown
   */
  public record Target(String url, String events) {}

  private static final String EVENTS =
      "--kv-events-config '{\"enable_kv_cache_events\": true, \"publisher\": \"zmq\","
          + " \"endpoint\": \"tcp://*:5557\", \"replay_endpoint\": \"tcp://*:5558\"}'";
  private static final Duration EVENTS_TIME = Duration.ofSeconds(5);
  private static final long CLOCK_SECONDS_MAX = 2;
  private static final String PROMPT =
      "Doctor's question number one. " + "The quick brown fox jumps over the lazy dog. ".repeat(12);

  private final Target worker;
  private final Duration eventsTime;
  private final WorkerHttp http;
  private final List<Check> checks = new ArrayList<>();
  private String model = "";
  private JsonNode described = WorkerHttp.NOTHING;

  private WorkerProbe(Target worker, @Nullable String key, Duration eventsTime) {
    this.worker = worker;
    this.eventsTime = eventsTime;
    this.http = new WorkerHttp(worker.url(), key);
  }

  /** Asks each worker, and compares those that serve a model of the same name. */
  public static List<Check> look(List<Target> workers, @Nullable String key) {
    return look(workers, key, EVENTS_TIME);
  }

  /** Does so, and waits so long for the events of each. */
  static List<Check> look(List<Target> workers, @Nullable String key, Duration eventsTime) {
    var checks = new ArrayList<Check>();
    var answers = new LinkedHashMap<String, WorkerProbe>();
    for (var worker : workers) {
      var probe = new WorkerProbe(worker, key, eventsTime);
      probe.look();
      checks.addAll(probe.checks);
      var before = answers.putIfAbsent(probe.model, probe);
      if (before != null && !probe.model.isEmpty()) checks.add(compare(before, probe));
    }
    return checks;
  }

  private void look() {
    var models = http.get("/v1/models");
    if (models.status() != 200) {
      add(
          "worker",
          Status.MISSING,
          worker.url() + " " + models.text(),
          "check the address, and --worker-key where it wants a key",
          Map.of("url", worker.url()));
      return;
    }
    described = models.json().path("data").path(0);
    model = described.path("id").asString("");
    var version = http.get("/version").json().path("version").asString("");
    add(
        "worker",
        Status.OK,
        worker.url() + " serves " + model + (version.isEmpty() ? "" : ", vLLM " + version),
        "context of " + described.path("max_model_len").asInt(0) + " tokens",
        Map.of("url", worker.url(), "model", model, "version", version));
    lookAtClock(models.dateSkewSeconds());
    lookAtCache(http.get("/metrics").text());
    lookAtTokens();
    lookAtAnswers();
  }

  private void lookAtClock(long skew) {
    boolean off = Math.abs(skew) > CLOCK_SECONDS_MAX;
    add(
        "clock",
        off ? Status.NOTE : Status.OK,
        off ? "differs by " + skew + " s from this machine's" : "the same as this machine's",
        off ? "times of its metrics and events are off: set both by NTP" : "nothing to do",
        Map.of("seconds", skew));
  }

  private void lookAtCache(String metrics) {
    var size = label(metrics, "block_size");
    var caching = label(metrics, "enable_prefix_caching");
    if (metrics.contains("sglang:")) {
      add(
          "cache",
          Status.OK,
          "SGLang, which reports its load at /metrics",
          "pages of any size are followed by their events",
          Map.of());
    } else if (size.isEmpty()) {
      add(
          "cache",
          Status.NOTE,
          "/metrics reports neither load nor block size",
          "vLLM: leave out --disable-log-stats; SGLang: add --enable-metrics",
          Map.of());
    } else {
      boolean off = caching.equalsIgnoreCase("false");
      add(
          "cache",
          off ? Status.MISSING : Status.OK,
          "blocks of " + size + " tokens, prefix caching " + (off ? "off" : "on"),
          off ? "start vLLM with --enable-prefix-caching" : "blocks of any size are followed",
          Map.of("block_size", size, "prefix_caching", !off));
    }
  }

  private static String label(String metrics, String name) {
    for (var line : metrics.lines().toList()) {
      int at = line.startsWith("vllm:cache_config_info") ? line.indexOf(name + "=\"") : -1;
      if (at < 0) continue;
      int from = at + name.length() + 2;
      return line.substring(from, Math.max(from, line.indexOf('"', from)));
    }
    return "";
  }

  private void lookAtTokens() {
    var body = http.object().put("model", model).put("prompt", "Hello there");
    var answer = http.post("/tokenize", body);
    boolean isSupported = answer.status() == 200 && !answer.json().path("tokens").isEmpty();
    add(
        "tokens",
        isSupported ? Status.OK : Status.NOTE,
        isSupported ? "/tokenize answers" : "/tokenize answers with status " + answer.status(),
        isSupported
            ? "--tokenizer FOLDER makes tokens in the router, which is quicker"
            : "give --tokenizer FOLDER, or prompts are hashed by bytes and match no KV events",
        Map.of("tokenize", isSupported));
  }

  /** Asks the same twice, and listens meanwhile. */
  private void lookAtAnswers() {
    long received = 0;
    try (var loop = new LiveLoop("doctor")) {
      var subscriber = worker.events().isEmpty() ? null : listen(loop);
      // Another prompt each time: what is cached already is not told again.
      var prompt = System.nanoTime() + " " + PROMPT;
      complete(prompt);
      var again = complete(prompt);
      if (subscriber != null) {
        received = await(subscriber);
        subscriber.close();
      }
      checkDetails(again.json().path("usage"), again.status());
    } catch (IOException e) {
      var message = String.valueOf(e.getMessage());
      add("events", Status.MISSING, message, "give events=tcp://HOST:PORT", Map.of());
      return;
    }
    checkEvents(received);
  }

  private KvEventSubscriber listen(LiveLoop loop) throws IOException {
    var target =
        new KvFeed.Target<EngineEvent>() {
          @Override
          public void on(EngineEvent event) {
            // The subscriber counts what comes, also what waits for a batch before it.
          }

          @Override
          public void forget() {
            // Only whether anything comes is of interest.
          }
        };
    var settings = SubscriberSettings.of(worker.events(), null);
    var subscriber = new KvEventSubscriber(loop, settings, target);
    // What is told before it is connected is not heard.
    long start = System.nanoTime();
    while (subscriber.stats().connects() == 0 && System.nanoTime() - start < eventsTime.toNanos()) {
      Threads.pause(Duration.ofMillis(20));
    }
    Threads.pause(Duration.ofMillis(200));
    return subscriber;
  }

  /** A subscription may take hold after the first events were told, so more are caused. */
  private long await(KvEventSubscriber subscriber) {
    long start = System.nanoTime();
    while (subscriber.stats().batches() == 0 && System.nanoTime() - start < eventsTime.toNanos()) {
      Threads.pause(Duration.ofMillis(500));
      if (subscriber.stats().batches() == 0) complete(System.nanoTime() + " " + PROMPT);
    }
    return subscriber.stats().batches();
  }

  private WorkerHttp.Answer complete(String prompt) {
    var body = http.object().put("model", model).put("prompt", prompt);
    body.put("max_tokens", 1).put("temperature", 0).put("logprobs", 1);
    return http.post("/v1/completions", body);
  }

  private void checkDetails(JsonNode usage, int status) {
    var details = usage.path("prompt_tokens_details");
    boolean isSupported = details.path("cached_tokens").isNumber();
    int cached = details.path("cached_tokens").asInt(0);
    add(
        "usage",
        isSupported ? Status.OK : Status.NOTE,
        isSupported
            ? "reports cached tokens ("
                + cached
                + " of "
                + usage.path("prompt_tokens").asInt()
                + ")"
            : "does not tell cached tokens (status " + status + ")",
        isSupported
            ? "what the router expects is compared with it"
            : "vLLM: --enable-prompt-tokens-details; SGLang: --enable-cache-report",
        Map.of("prompt_tokens_details", isSupported, "cached_tokens", cached));
  }

  private void checkEvents(long received) {
    if (worker.events().isEmpty()) {
      add(
          "events",
          Status.NOTE,
          "not asked for its KV events",
          "start it with " + EVENTS + " and give --worker URL,events=tcp://HOST:5557",
          Map.of());
      return;
    }
    add(
        "events",
        received > 0 ? Status.OK : Status.MISSING,
        received > 0
            ? received + " batches of KV events came"
            : "no KV events from " + worker.events(),
        received > 0
            ? "the router knows what it has cached"
            : "start it with " + EVENTS + "; without * in the endpoint no one can subscribe",
        Map.of("events", received));
  }

  /** Workers of one name should have one model. */
  private static Check compare(WorkerProbe first, WorkerProbe second) {
    var ours = first.fingerprint();
    var theirs = second.fingerprint();
    boolean same = ours.equals(theirs);
    var details = new LinkedHashMap<String, Object>();
    details.put("first", ours);
    details.put("second", theirs);
    return new Check(
        "same",
        same ? Status.OK : Status.MISSING,
        "%s and %s %s as %s"
            .formatted(
                first.worker.url(),
                second.worker.url(),
                same ? "answer alike" : "answer differently",
                first.model),
        same
            ? "requests may go to either"
            : "other weights or settings under one name: give each model a name of its own",
        details);
  }

  /** The first token of a fixed prompt and how sure the model is of it, in hundredths. */
  private String fingerprint() {
    var body = http.object().put("model", model).put("prompt", "Once upon a time, in a small");
    body.put("max_tokens", 1).put("temperature", 0).put("logprobs", 1);
    var choice = http.post("/v1/completions", body).json().path("choices").path(0);
    double sure = choice.path("logprobs").path("token_logprobs").path(0).asDouble(0);
    return "%s %.1f %d"
        .formatted(
            choice.path("text").asString(""), sure, described.path("max_model_len").asInt(0));
  }

  private void add(
      String name, Status status, String found, String follows, Map<String, ?> details) {
    SequencedMap<String, Object> all = new LinkedHashMap<>();
    details.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(each -> all.put(each.getKey(), each.getValue()));
    checks.add(new Check(name, status, found, follows, all));
  }
}
