package dev.kvasir.bench.proxy;

import dev.kvasir.events.EngineEvent;
import dev.kvasir.events.EngineHash;
import dev.kvasir.events.KvEventPublisher;
import dev.kvasir.events.PublisherSettings;
import dev.kvasir.text.JsonTokenizer;
import dev.kvasir.text.template.PromptTemplate;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import org.zeromq.ZContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A worker that answers every conversation at once with the same short stream, knows the tokens of
 * prompts by the files of a model, and tells KV events for each stream, as vLLM does. It is a
 * process of its own, which prints its ports and ends with its input.
 */
public final class PeersWorker {
  private static final int EVENTS = 8;
  private static final int BLOCK_TOKENS = 16;
  private static final int BLOCKS = 4;

  /** Blocks that its memory holds: a quarter of a million tokens. */
  private static final int BLOCKS_MAX = 16_384;

  /**
   * Flag that sends each event by itself, as from an engine, instead of the whole stream at once.
   */
  private static final boolean APART = Boolean.getBoolean("apart");

  private final Buffer event;
  private final Buffer stream = Buffer.buffer();
  private final KvEventPublisher publisher;
  private final JsonTokenizer tokenizer;
  private final PromptTemplate template;
  private long published;

  private PeersWorker(ZContext sockets, Path folder) throws Exception {
    tokenizer = JsonTokenizer.read(folder);
    var config = Files.readAllBytes(folder.resolve("tokenizer_config.json"));
    template =
        PromptTemplate.of(JsonMapper.shared().readTree(config).path("chat_template").asString(""));
    publisher =
        new KvEventPublisher(
            sockets, PublisherSettings.loopback("kv-events"), InstantSource.system());
    var event =
        "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"model\":\"bench\","
            + "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"}}]}\n\n";
    this.event = Buffer.buffer(event);
    for (int i = 0; i < EVENTS; i++) stream.appendString(event);
    stream.appendString("data: [DONE]\n\n");
  }

  /** Arguments: the folder of the model, and how many event loops answer. */
  public static void main(String[] arguments) throws Exception {
    int loops = Integer.parseInt(arguments[1]);
    int port = freePort();
    try (var sockets = new ZContext()) {
      var worker = new PeersWorker(sockets, Path.of(arguments[0]));
      var vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(loops));
      // Servers of one Vertx and one port share its connections.
      vertx
          .deployVerticle(
              () -> new Listener(worker, port), new DeploymentOptions().setInstances(loops))
          .await();
      var events = worker.publisher.endpoint();
      System.out.println(port + " " + events + " " + worker.publisher.replayEndpoint());
      System.in.transferTo(OutputStream.nullOutputStream());
      vertx.close().await();
      worker.publisher.close();
    }
  }

  /** Server that answers on one event loop. */
  private static final class Listener extends VerticleBase {
    private final PeersWorker worker;
    private final int port;

    Listener(PeersWorker worker, int port) {
      this.worker = worker;
      this.port = port;
    }

    @Override
    public Future<?> start() {
      return vertx
          .createHttpServer()
          .requestHandler(request -> worker.answer(vertx, request))
          .listen(port, "127.0.0.1");
    }
  }

  /** Port at which it listens, and endpoints of its events. */
  record Ports(int port, String events, String replay) {
    static Ports read(String line) {
      var words = line.split(" ", -1);
      return new Ports(Integer.parseInt(words[0]), words[1], words[2]);
    }

    /** The command with the ports in it. */
    String fill(String command) throws IOException {
      return command
          .replace("{worker}", Integer.toString(port))
          .replace("{events}", events)
          .replace("{replay}", replay)
          .replace("{spare}", Integer.toString(freePort()));
    }
  }

  private static int freePort() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void answer(Vertx vertx, HttpServerRequest request) {
    var response = request.response();
    switch (String.valueOf(request.path())) {
      case "/v1/models" -> response.end("{\"data\":[{\"id\":\"bench\"}]}");
      case "/v1/chat/completions" -> request.endHandler(_ -> stream(vertx, response));
      case "/tokenize" -> request.body().onSuccess(body -> response.end(tokens(body)));
      case "/server_info", "/get_server_info", "/get_model_info", "/model_info" ->
          response.end("{\"model_path\":\"bench\"}");
      default -> response.end("{}");
    }
  }

  private String tokens(Buffer body) {
    try {
      var read = JsonMapper.shared().readTree(body.getBytes());
      var tokens = read.has("messages") ? chat(read) : text(read.path("prompt").asString(""));
      return "{\"tokens\":" + Arrays.toString(tokens) + "}";
    } catch (Exception e) {
      return "{}";
    }
  }

  private int[] text(String text) throws Exception {
    return tokenizer.encode(text, JsonTokenizer.Frame.SPECIAL);
  }

  private int[] chat(JsonNode read) throws Exception {
    var values = new LinkedHashMap<String, Object>();
    values.put("messages", PromptTemplate.value(joined(read.path("messages"))));
    values.put("add_generation_prompt", true);
    if (read.has("tools")) values.put("tools", PromptTemplate.value(read.path("tools")));
    return tokenizer.encode(template.render(values), JsonTokenizer.Frame.NONE);
  }

  /** vLLM hands most templates one text, however many parts a message has. */
  private static JsonNode joined(JsonNode messages) {
    for (var message : messages) {
      if (!message.path("content").isArray()) continue;
      var texts = new ArrayList<String>();
      for (var part : message.path("content")) texts.add(part.path("text").asString(""));
      message.asObject().put("content", String.join("\n", texts));
    }
    return messages;
  }

  private void stream(Vertx vertx, HttpServerResponse response) {
    publish();
    response
        .setChunked(true)
        .putHeader(HttpHeaders.CONTENT_TYPE, "text/event-stream; charset=utf-8");
    if (APART) send(vertx, response, EVENTS);
    else response.end(stream);
  }

  private void send(Vertx vertx, HttpServerResponse response, int left) {
    if (left == 0) {
      response.end("data: [DONE]\n\n");
      return;
    }
    response.write(event);
    vertx.runOnContext(_ -> send(vertx, response, left - 1));
  }

  /** Publishes some new blocks, as a stream leaves them behind, in place of the oldest. */
  private synchronized void publish() {
    var tokens = new int[BLOCKS * BLOCK_TOKENS];
    Arrays.fill(tokens, (int) (published % 1_000));
    var place = new EngineEvent.Place("GPU", null);
    var events = new ArrayList<EngineEvent>();
    if (published >= BLOCKS_MAX) {
      events.add(new EngineEvent.Removed(hashes(published - BLOCKS_MAX), place, null));
    }
    events.add(
        new EngineEvent.Stored(
            hashes(published),
            null,
            tokens,
            BLOCK_TOKENS,
            new EngineEvent.Adapter(null, null),
            place,
            List.of(),
            new EngineEvent.Group(null, null, null)));
    published += BLOCKS;
    publisher.publish(events);
  }

  private static List<EngineHash> hashes(long first) {
    var hashes = new ArrayList<EngineHash>();
    for (int i = 0; i < BLOCKS; i++) hashes.add(new EngineHash.Word(first + i));
    return hashes;
  }
}
