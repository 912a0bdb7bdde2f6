package dev.kvasir.gateway;

import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.HttpSettings;
import io.netty.channel.ChannelOption;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import tools.jackson.databind.JsonNode;

/** A worker that answers as it is told by each request, and can die at any byte. */
final class ScriptedWorker implements AutoCloseable {
  /** Request as it arrived. */
  record Seen(String path, Map<String, String> headers, JsonNode body, String text) {}

  private static final String MODEL = "tiny";

  private final Network network;
  private final NetServer server;
  private final Map<Long, Integer> attempts;
  private final Queue<Seen> seen = new ConcurrentLinkedQueue<>();
  private final AtomicInteger cancelled = new AtomicInteger();
  private final AtomicInteger streaming = new AtomicInteger();
  private final AtomicLong flooded = new AtomicLong();
  private final AtomicInteger tokenized = new AtomicInteger();
  volatile boolean healthy = true;
  volatile String metrics = "";

  /** Flag that makes it answer every request with 500, although it reports that it is well. */
  volatile boolean broken;

  /** Flag that leaves requests for its metrics without an answer. */
  volatile boolean hidesMetrics;

  volatile int modelsStatus = 200;

  /** The entries of its list of models. */
  volatile String models = "{\"id\":\"" + MODEL + "\",\"object\":\"model\"}";

  /** Tokens that it answers for any prompt, after {@code tokenizeMillis}. */
  volatile String tokens = "1,2,3,4,5,6,7,8";

  volatile int tokenizeMillis;

  /** Cached tokens that whole answers report; below zero for none. */
  volatile int cachedTokens = -1;

  private ScriptedWorker(Network network, Map<Long, Integer> attempts) {
    this.network = network;
    this.attempts = attempts;
    this.server = network.vertx().createNetServer().connectHandler(s -> new Line(s).listen());
    Network.await(server.listen(0, HttpSettings.LOOPBACK));
  }

  /** Workers that share the count of attempts know how often a request went wrong anywhere. */
  static ScriptedWorker start(Network network, Map<Long, Integer> attempts) {
    return new ScriptedWorker(network, attempts);
  }

  static ScriptedWorker start(Network network) {
    return new ScriptedWorker(network, new ConcurrentHashMap<>());
  }

  int port() {
    return server.actualPort();
  }

  Worker worker() {
    return Worker.of("http://" + HttpSettings.LOOPBACK + ":" + port());
  }

  Queue<Seen> seen() {
    return seen;
  }

  /** Answers that the other side did not wait for. */
  int cancelled() {
    return cancelled.get();
  }

  /** Bytes of streams without end that were handed to the network. */
  long flooded() {
    return flooded.get();
  }

  int streaming() {
    return streaming.get();
  }

  /** Returns how often it was asked for tokens. */
  int tokenized() {
    return tokenized.get();
  }

  @Override
  public void close() {
    Network.await(server.close());
  }

  /** One connection, with its requests one after the other. */
  private final class Line {
    private final NetSocket socket;
    private final Buffer in = Buffer.buffer();
    private int used;
    private boolean answering;

    Line(NetSocket socket) {
      this.socket = socket;
    }

    void listen() {
      socket.exceptionHandler(_ -> {});
      socket.closeHandler(
          _ -> {
            if (!answering) return;
            answering = false;
            cancelled.incrementAndGet();
            streaming.decrementAndGet();
          });
      socket.handler(
          bytes -> {
            in.appendBuffer(bytes);
            read();
          });
    }

    private void read() {
      var text = in.getString(used, in.length(), "ISO-8859-1");
      int head = text.indexOf("\r\n\r\n");
      if (head < 0) return;
      var headers = new ConcurrentHashMap<String, String>();
      var lines = text.substring(0, head).split("\r\n", -1);
      for (int i = 1; i < lines.length; i++) {
        int colon = lines[i].indexOf(':');
        var name = lines[i].substring(0, colon).toLowerCase(Locale.ROOT);
        headers.put(name, lines[i].substring(colon + 1).strip());
      }
      int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
      int start = used + head + 4;
      if (in.length() < start + length) return;
      var body = in.getString(start, start + length);
      used = start + length;
      answer(lines[0].split(" ", -1)[1], headers, body);
    }

    private void answer(String path, Map<String, String> headers, String body) {
      switch (path) {
        case "/health" -> plain(healthy ? 200 : 503, "{}");
        case "/metrics" -> {
          if (!hidesMetrics) plain(200, metrics);
        }
        case "/v1/models" -> plain(modelsStatus, "{\"data\":[" + models + "]}");
        case "/query" -> plain(200, "{\"0\":{\"engine_id\":\"engine-" + port() + "\"}}");
        case "/tokenize" -> tokenize();
        case String ended when ended.startsWith("/v1/sessions/") -> {
          seen.add(new Seen(path, headers, Json.object(), body));
          plain(200, "{}");
        }
        default -> {
          var tree = Json.read(body.getBytes(StandardCharsets.UTF_8));
          seen.add(new Seen(path, headers, tree, body));
          if (broken) plain(500, "{\"error\":{\"message\":\"broken\"}}");
          else perform(tree);
        }
      }
    }

    private String details() {
      if (cachedTokens < 0) return "";
      return ",\"prompt_tokens_details\":{\"cached_tokens\":" + cachedTokens + "}";
    }

    private void tokenize() {
      tokenized.incrementAndGet();
      var answer = "{\"tokens\":[" + tokens + "]}";
      if (tokenizeMillis == 0) plain(200, answer);
      else network.vertx().setTimer(tokenizeMillis, _ -> plain(200, answer));
    }

    private void perform(JsonNode body) {
      var plan = Plan.of(body);
      int attempt = attempts.merge(plan.seed(), 1, Integer::sum);
      boolean good = plan.goesWell(attempt);
      var params = body.path("kv_transfer_params");
      if (params.path("do_remote_decode").asBoolean(false)) {
        if (!good) perform(plan, body);
        else plain(200, prefilled());
      } else if (good && !body.path("stream").asBoolean(false)) {
        plain(
            200,
            "{\"object\":\"whole\",\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3"
                + details()
                + "}}");
      } else {
        perform(good ? plan.good() : plan, body);
      }
    }

    private String prefilled() {
      return "{\"kv_transfer_params\":{\"do_remote_prefill\":true,\"remote_block_ids\":[[1,2]],"
          + "\"remote_engine_id\":\"p-"
          + port()
          + "\"}}";
    }

    private void perform(Plan plan, JsonNode body) {
      switch (plan.fault()) {
        case BUSY -> plain(503, "{\"error\":{\"message\":\"busy\"}}");
        case ERROR -> plain(500, "{\"error\":{\"message\":\"broken\"}}");
        case BEFORE_HEAD -> end(plan.break_());
        default -> stream(plan, body);
      }
    }

    private void stream(Plan plan, JsonNode body) {
      answering = true;
      streaming.incrementAndGet();
      boolean chunked = plan.fault() != Plan.Fault.UNDELIMITED;
      socket.write(
          "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
              + (chunked ? "transfer-encoding: chunked\r\n\r\n" : "connection: close\r\n\r\n"));
      var random = new SplittableRandom(plan.seed());
      if (body.path("forever").asBoolean(false)) {
        flood();
        return;
      }
      var bytes = script(plan).getBytes(StandardCharsets.UTF_8);
      int length = bytes.length;
      // Inside the two bytes of the last letter that came.
      if (plan.fault() == Plan.Fault.IN_CHARACTER) length -= 8;
      for (int at = 0; at < length; ) {
        int size = Math.min(length - at, 1 + random.nextInt(200));
        var piece = Buffer.buffer().appendBytes(bytes, at, size);
        socket.write(chunked ? chunk(piece) : piece);
        at += size;
      }
      boolean good = plan.fault() == Plan.Fault.NONE || plan.fault() == Plan.Fault.ERROR_EVENT;
      if (good) {
        finished();
        socket.write("0\r\n\r\n");
      } else {
        end(plan.break_());
      }
    }

    private void finished() {
      answering = false;
      streaming.decrementAndGet();
    }

    /** Sends and sends, as far as the other side takes it. */
    private void flood() {
      var event = "data: {\"n\":0,\"pad\":\"" + "x".repeat(4_000) + "\"}\n\n";
      for (int i = 0; i < 16 && !socket.writeQueueFull(); i++) {
        socket.write(chunk(Buffer.buffer(event)));
        flooded.addAndGet(event.length());
      }
      if (!answering) return;
      // Others have their turn in between, and above all the news that the other side is gone.
      if (socket.writeQueueFull()) socket.drainHandler(_ -> flood());
      else network.vertx().runOnContext(_ -> flood());
    }

    private static String script(Plan plan) {
      var text = new StringBuilder();
      boolean cut = plan.fault() != Plan.Fault.NONE && plan.fault() != Plan.Fault.BEFORE_DONE;
      int count = cut ? plan.after() : plan.tokens();
      if (plan.fault() == Plan.Fault.AFTER_HEAD) count = 0;
      for (int n = 0; n < count; n++) text.append(event(n));
      switch (plan.fault()) {
        case NONE ->
            text.append("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,")
                .append("\"completion_tokens\":")
                .append(plan.tokens())
                .append("}}\n\n")
                .append("data: [DONE]\n\n");
        case IN_CHARACTER, UNDELIMITED -> text.append(event(count));
        case ERROR_EVENT ->
            text.append("data: {\"error\":{\"message\":\"no KV\"}}\n\ndata: [DONE]\n\n");
        default -> {}
      }
      // An event cut off in the middle, so that what came is not a whole one.
      if (plan.fault() == Plan.Fault.UNDELIMITED) text.setLength(text.length() - 12);
      return text.toString();
    }

    private static String event(int n) {
      return "data: {\"n\":" + n + ",\"text\":\"größ\u00e9\"}\n\n";
    }

    private void plain(int status, String body) {
      var bytes = Buffer.buffer(body);
      socket.write(
          Buffer.buffer(
                  "HTTP/1.1 "
                      + status
                      + " X\r\ncontent-type: application/json\r\n"
                      + "content-length: "
                      + bytes.length()
                      + "\r\n\r\n")
              .appendBuffer(bytes));
    }

    private void end(Plan.Break how) {
      if (how == Plan.Break.STALL) return;
      if (answering) finished();
      if (how == Plan.Break.RST) {
        var channel = ((NetSocketInternal) socket).channelHandlerContext().channel();
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
      }
      socket.close();
    }

    private static Buffer chunk(Buffer piece) {
      return Buffer.buffer(Integer.toHexString(piece.length()) + "\r\n")
          .appendBuffer(piece)
          .appendString("\r\n");
    }
  }
}
