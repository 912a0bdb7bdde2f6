package dev.kvasir.gateway.dashboard;

import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** One tab of a browser. */
final class Tab implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final long PATIENCE_NANOS = Duration.ofSeconds(30).toNanos();

  private final AtomicInteger ids = new AtomicInteger();
  private final Map<Integer, CompletableFuture<JsonNode>> open = new ConcurrentHashMap<>();
  private final List<String> complaints = new CopyOnWriteArrayList<>();
  private final WebSocket socket;

  /** Color scheme in which a page is shown. */
  enum Scheme {
    LIGHT,
    DARK
  }

  private Tab(HttpClient client, URI uri) {
    this.socket = client.newWebSocketBuilder().buildAsync(uri, new Reader()).join();
  }

  static Tab connect(HttpClient client, URI uri) {
    var tab = new Tab(client, uri);
    tab.call("Page.enable", JSON.createObjectNode());
    tab.call("Runtime.enable", JSON.createObjectNode());
    tab.call("Log.enable", JSON.createObjectNode());
    return tab;
  }

  void size(int width, int height, double scale) {
    var metrics = JSON.createObjectNode();
    metrics.put("width", width).put("height", height).put("deviceScaleFactor", scale);
    call("Emulation.setDeviceMetricsOverride", metrics.put("mobile", width < 600));
  }

  void scheme(Scheme scheme) {
    var media = JSON.createObjectNode();
    var feature = media.putArray("features").addObject().put("name", "prefers-color-scheme");
    feature.put("value", scheme == Scheme.DARK ? "dark" : "light");
    call("Emulation.setEmulatedMedia", media);
  }

  /** Lets scripts of the test do what the page's own policy forbids its scripts. */
  void bypassPolicy() {
    call("Page.setBypassCSP", JSON.createObjectNode().put("enabled", true));
  }

  void go(String url) {
    call("Page.navigate", JSON.createObjectNode().put("url", url));
  }

  /** Returns the value of the script, as text. */
  String value(String script) {
    return evaluated(script, "String(" + script + ")");
  }

  /** Returns the value to which the script's promise resolves, as text. */
  String outcome(String script) {
    return evaluated(script, "(async () => String(await (" + script + ")))()");
  }

  private String evaluated(String script, String expression) {
    var params = JSON.createObjectNode().put("expression", expression);
    var result = call("Runtime.evaluate", params.put("awaitPromise", true));
    if (result.has("exceptionDetails")) fail(script + ": " + result.path("exceptionDetails"));
    return result.path("result").path("value").asString();
  }

  /** The text of the first element that the selector finds. */
  String text(String selector) {
    return value("document.querySelector('" + selector + "')?.textContent");
  }

  /** Waits until the script says true. */
  void until(String script) throws InterruptedException {
    long start = System.nanoTime();
    while (!value(script).equals("true")) {
      if (System.nanoTime() - start > PATIENCE_NANOS) {
        fail("never so: " + script + "\n" + value("document.body.innerText") + "\n" + complaints);
      }
      Thread.sleep(20);
    }
  }

  /** Types into whatever has the focus. */
  void type(String text) {
    call("Input.insertText", JSON.createObjectNode().put("text", text));
  }

  /** Presses a key, with a modifier as the protocol numbers them: 2 is Ctrl, 8 is Shift. */
  void press(String key, int code, int modifiers) {
    for (var type : List.of("keyDown", "keyUp")) {
      var event = JSON.createObjectNode().put("type", type).put("key", key).put("code", key);
      event.put("windowsVirtualKeyCode", code).put("modifiers", modifiers);
      if (key.equals("Enter")) event.put("text", "\r");
      call("Input.dispatchKeyEvent", event);
    }
  }

  /** Moves the mouse, or presses or releases its left button, at a place of the page. */
  void mouse(String type, double x, double y) {
    var event = JSON.createObjectNode().put("type", type).put("x", x).put("y", y);
    event.put("button", type.equals("mouseMoved") ? "none" : "left").put("clickCount", 1);
    call("Input.dispatchMouseEvent", event);
  }

  /** Writes a picture of the visible part of the page. */
  void picture(Path file) throws IOException {
    var answer = call("Page.captureScreenshot", JSON.createObjectNode());
    Files.write(file, Base64.getDecoder().decode(answer.path("data").asString()));
  }

  /** Errors and warnings so far, by the page or about it. */
  List<String> complaints() {
    return List.copyOf(complaints);
  }

  private JsonNode call(String method, ObjectNode params) {
    int id = ids.incrementAndGet();
    var answer = new CompletableFuture<JsonNode>();
    open.put(id, answer);
    var message = JSON.createObjectNode().put("id", id).put("method", method);
    message.set("params", params);
    socket.sendText(message.toString(), true).join();
    var whole = answer.orTimeout(60, TimeUnit.SECONDS).join();
    if (whole.has("error")) fail(method + ": " + whole.path("error"));
    return whole.path("result");
  }

  @Override
  public void close() {
    socket.abort();
  }

  private void receive(JsonNode message) {
    var answer = message.has("id") ? open.remove(message.path("id").asInt()) : null;
    if (answer != null) answer.complete(message);
    var params = message.path("params");
    switch (message.path("method").asString("")) {
      case "Runtime.exceptionThrown" -> complaints.add(params.toString());
      case "Runtime.consoleAPICalled" -> addError(params.path("type"), params);
      case "Log.entryAdded" -> addError(params.path("entry").path("level"), params);
      default -> {}
    }
  }

  private void addError(JsonNode level, JsonNode what) {
    if (List.of("error", "warning", "assert").contains(level.asString())) {
      complaints.add(what.toString());
    }
  }

  /** Puts messages together that come in parts. */
  private final class Reader implements WebSocket.Listener {
    private final StringBuilder parts = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
      parts.append(part);
      if (last) {
        receive(JSON.readTree(parts.toString()));
        parts.setLength(0);
      }
      from.request(1);
      return CompletableFuture.completedFuture(null);
    }
  }
}
