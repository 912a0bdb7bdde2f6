package dev.kvasir.cli.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.Nullable;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Compares what the gateway expects to be cached with what real vLLM servers report. Run by
 * scripts/real-vllm, which starts two of them; needs about ten minutes.
 */
@EnabledIfEnvironmentVariable(
    named = "REAL_VLLM_SCRIPT",
    matches = ".+",
    disabledReason = "needs real vLLM servers: run scripts/real-vllm")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Timeout(1_800)
class RealVllmTest {
  private static final int CONVERSATIONS = 5;
  private static final int TURNS = 6;
  private static final int EVICTING_TURNS = 42;
  private static final String EVICTING_BLOCKS = "64";
  private static final Duration EVENTS_TIME = Duration.ofMillis(400);
  private static final Duration START_TIME = Duration.ofMinutes(10);
  private static final double POINT = 0.01;
  private static final String[] WORDS =
      "lantern river stone morning window garden letter market winter copper thread candle"
          .split(" ", -1);

  /** Observations from one request. */
  private record Seen(String worker, int expected, int cached, int prompt, int possible) {
    boolean isExact() {
      return expected == cached;
    }
  }

  /** One conversation: what was said, and which tokens an engine computed for it last. */
  private static final class Conversation {
    final List<Map<String, String>> messages = new ArrayList<>();
    int[] computed = {};
  }

  /** Servers of Python lose the body of a request that offers HTTP/2. */
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final List<AutoCloseable> opened = new ArrayList<>();

  @TempDir private Path folder;

  @AfterEach
  void close() throws Exception {
    for (var each : opened.reversed()) each.close();
    client.close();
  }

  @Test
  @Order(1)
  void conversationsAreSentWhereTheirTokensAre() throws Exception {
    forget(1);
    forget(2);
    var roundRobin = converse(serving("--routing=round-robin"), 100);
    write("round robin", roundRobin);
    var exact = converse(serving(), 200);
    write("Kvasir with events", exact);
    assertThat(exact).allMatch(Seen::isExact);
    assertThat(share(exact)).isGreaterThan(best(exact) - POINT).isGreaterThan(share(roundRobin));
  }

  @Test
  @Order(2)
  void aStoppedEngineIsFollowedOnceItGoesOn() throws Exception {
    var serving = serving();
    var seen = converse(serving, 300);
    signal("STOP", processes(1));
    Thread.sleep(Duration.ofSeconds(5));
    signal("CONT", processes(1));
    awaitReady(serving);
    var after = converse(serving, 300);
    write("after SIGSTOP for 5 s", after);
    assertThat(seen).allMatch(Seen::isExact);
    assertThat(after).allMatch(Seen::isExact);
    assertThat(after.getFirst().cached()).isPositive();
  }

  @Test
  @Order(3)
  void aNewGatewayHearsWhatWasToldBefore() throws Exception {
    var first = serving();
    converse(first, 400);
    first.close();
    var again = serving();
    Thread.sleep(Duration.ofSeconds(2));
    var after = converse(again, 400);
    write("after the gateway's restart", after);
    assertThat(after).allMatch(Seen::isExact);
    assertThat(after.getFirst().cached()).isPositive();
  }

  @Test
  @Order(4)
  void aKilledServerIsForgotten() throws Exception {
    assertForgotten("SIGKILL of the API server", List.of(processes(1).getFirst()), 1, List.of());
  }

  @Test
  @Order(5)
  void aKilledEngineIsForgotten() throws Exception {
    var engine = processes(1).stream().filter(RealVllmTest::isEngine).toList();
    assertThat(engine).isNotEmpty();
    assertForgotten("SIGKILL of the engine", engine, 1, List.of());
  }

  @Test
  @Order(6)
  void evictionIsFollowedBlockByBlock() throws Exception {
    var small = List.of("--num-gpu-blocks-override", EVICTING_BLOCKS);
    assertForgotten("SIGKILL of server and engine", processes(2), 2, small);
    var serving = serving(List.of(2), "--routing=balanced");
    var random = new SplittableRandom(7);
    var conversations = new ArrayList<Conversation>();
    for (int i = 0; i < 7; i++) conversations.add(begin(random, 600 + i));
    var seen = new ArrayList<Seen>();
    for (int turn = 0; turn < EVICTING_TURNS; turn++) {
      int which = random.nextInt(conversations.size());
      // A conversation of so many turns nearly fills the model's context.
      if (conversations.get(which).messages.size() > 2 * TURNS) {
        conversations.set(which, begin(random, 700 + turn));
      }
      seen.add(turn(serving, conversations.get(which), random));
    }
    write(EVICTING_BLOCKS + " blocks, evicting", seen);
    assertThat(seen).allMatch(Seen::isExact);
  }

  @Test
  @Order(7)
  void clientsAreBookedAsTheySawIt() throws Exception {
    var python = Path.of(variable("VENV"), "bin", "python").toString();
    var exitCode = new ProcessBuilder(python, "-c", "import openai, anthropic").start().waitFor();
    assumeTrue(exitCode == 0, "the Python clients openai and anthropic are not installed");
    var tools = List.of("--enable-auto-tool-choice", "--tool-call-parser", "hermes");
    for (int instance : List.of(1, 2)) start(instance, tools);
    var log = folder.resolve("requests.jsonl");
    var serving = serving("--log-requests=" + log);
    awaitReady(serving);
    var script = Path.of(variable("REAL_VLLM_SCRIPT")).resolveSibling("real-vllm-clients.py");
    var process =
        new ProcessBuilder(python, script.toString(), serving.gateway().url(), log.toString())
            .redirectErrorStream(true)
            .start();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    Files.writeString(results(), output, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    assertThat(process.waitFor()).as(output).isZero();
  }

  @Test
  @Order(8)
  void prefillAndDecodeApartGiveTheSameTokens() throws Exception {
    assumeTrue(
        Files.isDirectory(Path.of(variable("REAL_VLLM_DIR"), "nixl")), "NIXL is not installed");
    start(1, List.of("--kv-transfer-config", nixl("kv_producer")));
    start(2, List.of("--kv-transfer-config", nixl("kv_consumer")));
    var serving =
        serving(
            List.of(1, 2),
            List.of(",name=p,role=prefill,connector=nixl", ",name=d,role=decode,connector=nixl"),
            "--placement=always",
            "--heavy-tokens=1");
    awaitReady(serving);
    int same = 0;
    for (int i = 0; i < TURNS; i++) {
      var prompt = "Story " + i + ": " + words(new SplittableRandom(800 + i), 20 + 8 * i);
      var apart = complete(serving.gateway().url(), prompt);
      assertThat(apart.headers().firstValue("x-kvasir-prefill-instance")).hasValue("p");
      var together = complete("http://127.0.0.1:" + port(1), prompt);
      if (ids(apart).equals(ids(together))) same++;
    }
    var metricsText = get("http://127.0.0.1:" + port(2) + "/metrics");
    var lines =
        metricsText
            .lines()
            .filter(line -> line.matches("vllm:(nixl_bytes.*_sum|.*external.*hits_total).*"))
            .toList();
    Files.writeString(
        results(),
        "prefill and decode apart: %d of %d answers have the same tokens%n%s%n"
            .formatted(same, TURNS, String.join("\n", lines)),
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
    assertThat(same).isEqualTo(TURNS);
    assertThat(lines).isNotEmpty().noneMatch(line -> line.endsWith(" 0.0"));
    signal("KILL", processes(1));
    assertThat(complete(serving.gateway().url(), "Once more").statusCode()).isEqualTo(200);
  }

  private static String nixl(String role) {
    return "{\"kv_connector\":\"NixlConnector\",\"kv_role\":\"%s\",\"kv_buffer_device\":\"cpu\"}"
        .formatted(role);
  }

  private HttpResponse<String> complete(String url, String prompt) throws Exception {
    var body = JsonMapper.shared().createObjectNode();
    body.put("model", "pocket").put("prompt", prompt).put("max_tokens", 16).put("temperature", 0);
    body.put("ignore_eos", true).put("return_token_ids", true);
    var request =
        HttpRequest.newBuilder(URI.create(url + "/v1/completions"))
            .header("content-type", "application/json")
            .header("x-kvasir-explain", "1")
            .timeout(Duration.ofMinutes(2))
            .POST(BodyPublishers.ofString(body.toString()))
            .build();
    var answer = client.send(request, BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer;
  }

  private static JsonNode ids(HttpResponse<String> answer) {
    return JsonMapper.shared().readTree(answer.body()).path("choices").path(0).path("token_ids");
  }

  /** Conversations that go on after the kill are never expected where they no longer are. */
  private void assertForgotten(
      String what, List<ProcessHandle> killed, int instance, List<String> arguments)
      throws Exception {
    var serving = serving();
    converse(serving, 500 + 10 * instance + arguments.size());
    signal("KILL", killed);
    Thread.sleep(Duration.ofSeconds(2));
    start(instance, arguments);
    awaitReady(serving);
    var after = converse(serving, 500 + 10 * instance + arguments.size());
    write("after " + what, after);
    assertThat(after.subList(1, after.size())).allMatch(Seen::isExact);
  }

  /** Conversations take turns; each word of a seed is the same each time. */
  private List<Seen> converse(Serving serving, int seed) throws Exception {
    awaitReady(serving);
    var random = new SplittableRandom(seed);
    var conversations = new ArrayList<Conversation>();
    for (int i = 0; i < CONVERSATIONS; i++) conversations.add(begin(random, seed + i));
    var seen = new ArrayList<Seen>();
    for (int turn = 0; turn < TURNS; turn++) {
      for (var each : conversations) seen.add(turn(serving, each, random));
    }
    return seen;
  }

  private static Conversation begin(SplittableRandom random, int number) {
    var conversation = new Conversation();
    conversation.messages.add(
        Map.of("role", "system", "content", "Conversation " + number + ". " + words(random, 40)));
    return conversation;
  }

  private Seen turn(Serving serving, Conversation conversation, SplittableRandom random)
      throws Exception {
    conversation.messages.add(Map.of("role", "user", "content", words(random, 24)));
    var request =
        HttpRequest.newBuilder(URI.create(serving.gateway().url() + "/v1/chat/completions"))
            .header("content-type", "application/json")
            .header("x-kvasir-explain", "1")
            .timeout(Duration.ofMinutes(2))
            .POST(BodyPublishers.ofString(body(conversation)))
            .build();
    var answer = client.send(request, BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    var read = JsonMapper.shared().readTree(answer.body());
    var usage = read.path("usage");
    var prompt = tokens(read.path("prompt_token_ids"));
    var seen =
        new Seen(
            answer.headers().firstValue("x-kvasir-instance").orElseThrow(),
            Integer.parseInt(answer.headers().firstValue("x-kvasir-cached-tokens").orElseThrow()),
            usage.path("prompt_tokens_details").path("cached_tokens").asInt(),
            usage.path("prompt_tokens").asInt(),
            possible(prompt, conversation.computed));
    remember(conversation, prompt, read.path("choices").path(0));
    // Events come after answers; the next question is asked when they are there.
    Thread.sleep(EVENTS_TIME);
    return seen;
  }

  private static String body(Conversation conversation) {
    var body = JsonMapper.shared().createObjectNode();
    body.put("model", "pocket").put("max_tokens", 16).put("temperature", 0);
    body.put("return_token_ids", true);
    body.putPOJO("messages", conversation.messages);
    return JsonMapper.shared().writeValueAsString(body);
  }

  private static void remember(Conversation conversation, int[] prompt, JsonNode choice) {
    var output = choice.path("message").path("content").asString("");
    conversation.messages.add(Map.of("role", "assistant", "content", output));
    var made = tokens(choice.path("token_ids"));
    conversation.computed = Arrays.copyOf(prompt, prompt.length + made.length);
    System.arraycopy(made, 0, conversation.computed, prompt.length, made.length);
  }

  /**
   * Returns how many tokens of the prompt could be cached if it went where the conversation was
   * before.
   */
  private static int possible(int[] prompt, int[] computed) {
    int common = 0;
    // The last token that was made was never computed.
    while (common < Math.min(prompt.length - 1, computed.length - 1)
        && prompt[common] == computed[common]) {
      common++;
    }
    return common - common % blockTokens();
  }

  private static int blockTokens() {
    return Integer.parseInt(System.getenv().getOrDefault("REAL_VLLM_BLOCK", "32"));
  }

  private static int[] tokens(JsonNode list) {
    var tokens = new int[list.size()];
    for (int i = 0; i < tokens.length; i++) tokens[i] = list.path(i).asInt();
    return tokens;
  }

  private static String words(SplittableRandom random, int count) {
    var text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      text.append(WORDS[random.nextInt(WORDS.length)]).append(random.nextInt(100)).append(' ');
    }
    return text.toString().strip();
  }

  private static double share(List<Seen> seen) {
    return (double) seen.stream().mapToInt(Seen::cached).sum()
        / seen.stream().mapToInt(Seen::prompt).sum();
  }

  private static double best(List<Seen> seen) {
    return (double) seen.stream().mapToInt(Seen::possible).sum()
        / seen.stream().mapToInt(Seen::prompt).sum();
  }

  private static void write(String what, List<Seen> seen) throws IOException {
    var lines = new ArrayList<String>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%-28s cached %,6d of %,6d, %4.1f %% (possible %4.1f %%), expected %,6d, exact %d/%d",
            what,
            seen.stream().mapToInt(Seen::cached).sum(),
            seen.stream().mapToInt(Seen::prompt).sum(),
            100 * share(seen),
            100 * best(seen),
            seen.stream().mapToInt(Seen::expected).sum(),
            seen.stream().filter(Seen::isExact).count(),
            seen.size()));
    for (int i = 0; i < seen.size(); i++) {
      if (!seen.get(i).isExact() || seen.get(i).cached() < seen.get(i).possible()) {
        lines.add("  " + i + ": " + seen.get(i));
      }
    }
    Files.write(results(), lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private static Path results() {
    return Path.of(variable("REAL_VLLM_DIR"), "results.txt");
  }

  private Serving serving(String... options) throws Exception {
    return serving(List.of(1, 2), options);
  }

  private Serving serving(List<Integer> instances, String... options) throws Exception {
    return serving(instances, List.of("", ""), options);
  }

  private Serving serving(List<Integer> instances, List<String> more, String... options)
      throws Exception {
    var line = new ArrayList<>(List.of("--port=0", "--admin-port=0"));
    for (int i = 0; i < instances.size(); i++) {
      int n = instances.get(i);
      line.add(
          "--worker=http://127.0.0.1:%d,events=tcp://127.0.0.1:%d,replay=tcp://127.0.0.1:%d%s"
              .formatted(port(n), port(n + 10), port(n + 20), more.get(i)));
    }
    line.add("--tokenizer=" + Path.of(variable("REAL_VLLM_DIR"), "pocket"));
    line.addAll(List.of(options));
    var all = new ServeOptions();
    CommandLine.populateCommand(all, line.toArray(String[]::new));
    var serving = Serving.of(all.configuration(Map.of()).read(), folder.resolve("cache"), "test");
    opened.add(serving);
    return serving;
  }

  /** Waits until all workers are ready and their events are heard. */
  private void awaitReady(Serving serving) throws Exception {
    long start = System.nanoTime();
    while (System.nanoTime() - start < START_TIME.toNanos()) {
      var text = metrics(serving);
      var ready = text.lines().filter(line -> line.startsWith("kvasir_worker_ready{")).toList();
      if (!ready.isEmpty() && ready.stream().allMatch(line -> line.endsWith(" 1"))) {
        Thread.sleep(Duration.ofSeconds(2));
        return;
      }
      Thread.sleep(200);
    }
    throw new AssertionError("not all workers became ready: " + metrics(serving));
  }

  private String metrics(Serving serving) throws Exception {
    return get(serving.gateway().adminUrl() + "/metrics");
  }

  private String get(String url) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofMinutes(1)).build();
    return client.send(request, BodyHandlers.ofString()).body();
  }

  /** Has the server drop its cache, as far as it can be asked to. */
  private void forget(int instance) throws Exception {
    var url = URI.create("http://127.0.0.1:" + port(instance) + "/reset_prefix_cache");
    var request = HttpRequest.newBuilder(url).POST(BodyPublishers.noBody()).build();
    client.send(request, BodyHandlers.discarding());
  }

  private static void start(int instance, List<String> arguments) throws Exception {
    var line = new ArrayList<>(List.of(variable("REAL_VLLM_SCRIPT"), "start", instance + ""));
    line.addAll(arguments);
    var process =
        new ProcessBuilder(line)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(process.waitFor()).isZero();
  }

  /** The processes of an instance, the API server first. */
  private static List<ProcessHandle> processes(int instance) throws IOException {
    var file = Path.of(variable("REAL_VLLM_DIR"), "vllm-" + instance + ".pid");
    var first = ProcessHandle.of(Long.parseLong(Files.readString(file).strip())).orElseThrow();
    var all = new ArrayList<>(List.of(first));
    all.addAll(first.descendants().toList());
    return all;
  }

  private static boolean isEngine(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc", process.pid() + "", "comm")).contains("Engine")
          || Files.readString(Path.of("/proc", process.pid() + "", "cmdline")).contains("Engine");
    } catch (IOException e) {
      return false;
    }
  }

  private static void signal(String name, List<ProcessHandle> processes) throws Exception {
    var line = new ArrayList<>(List.of("kill", "-" + name));
    for (var each : processes) line.add(Long.toString(each.pid()));
    assertThat(new ProcessBuilder(line).start().waitFor()).isZero();
  }

  private static int port(int offset) {
    return Integer.parseInt(variable("REAL_VLLM_PORTS")) + offset;
  }

  private static String variable(String name) {
    @Nullable String value = System.getenv(name);
    return requireNonNull(value, name);
  }
}
