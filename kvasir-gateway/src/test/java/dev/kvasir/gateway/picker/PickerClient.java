package dev.kvasir.gateway.picker;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.picker.Proto.Reader;
import dev.kvasir.gateway.picker.Proto.Writer;
import dev.kvasir.net.Network;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Speaks to a picker as Envoy does, one stream at a time, and as Envoy would not. */
final class PickerClient implements AutoCloseable {
  static final String PROCESS = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";
  private static final int WAIT_SECONDS = 30;

  private final HttpClient client;
  private final int port;

  PickerClient(Vertx vertx, int port) {
    this.port = port;
    client =
        vertx.createHttpClient(
            new HttpClientOptions()
                .setProtocolVersion(HttpVersion.HTTP_2)
                .setHttp2ClearTextUpgrade(false));
  }

  /** One call. */
  static final class Call {
    final BlockingQueue<Buffer> answers = new LinkedBlockingQueue<>();
    private final HttpClientRequest request;
    private final CompletableFuture<String> status = new CompletableFuture<>();
    private final Consumer<Buffer> consumer;
    private Buffer in = Buffer.buffer();

    private Call(HttpClientRequest request, Consumer<Buffer> consumer) {
      this.request = request;
      this.consumer = consumer;
      request.exceptionHandler(_ -> status.complete("reset"));
      request
          .response()
          .onSuccess(
              response -> {
                response.handler(this::receive);
                response.exceptionHandler(_ -> status.complete("reset"));
                response.endHandler(_ -> status.complete(response.getTrailer("grpc-status")));
              })
          .onFailure(_ -> status.complete("reset"));
    }

    private void receive(Buffer bytes) {
      in = Buffer.buffer().appendBuffer(in).appendBuffer(bytes);
      while (in.length() >= 5 && in.length() >= 5 + in.getInt(1)) {
        int end = 5 + in.getInt(1);
        var answer = in.getBuffer(5, end);
        answers.add(answer);
        consumer.accept(answer);
        in = in.getBuffer(end, in.length());
      }
    }

    Call send(Writer message) {
      var bytes = message.buffer();
      return raw(
          Buffer.buffer().appendByte((byte) 0).appendInt(bytes.length()).appendBuffer(bytes));
    }

    Call raw(Buffer bytes) {
      Network.await(request.write(bytes));
      return this;
    }

    Call finish() {
      Network.await(request.end());
      return this;
    }

    void reset() {
      request.reset();
    }

    /** Returns the final gRPC status. */
    String status() {
      try {
        return status.get(WAIT_SECONDS, TimeUnit.SECONDS);
      } catch (Exception e) {
        return "no end: " + e;
      }
    }

    Answer answer() throws InterruptedException {
      var answer = answers.poll(WAIT_SECONDS, TimeUnit.SECONDS);
      if (answer == null) throw new AssertionError("no answer");
      return Answer.of(answer);
    }
  }

  /** The parts of a ProcessingResponse: which one, the status of an immediate one, its text. */
  record Answer(int kind, int status, String endpoint, String text) {
    static Answer of(Buffer bytes) {
      var reader = new Reader(bytes);
      int kind = 0;
      int status = 0;
      var endpoint = "";
      while (reader.next()) {
        if (reader.field() == 8) endpoint = endpoint(reader.bytes().toString());
        else kind = reader.field();
        if (reader.field() == 7) status = status(reader.message());
      }
      return new Answer(kind, status, endpoint, bytes.toString());
    }

    private static int status(Reader immediate) {
      while (immediate.next()) {
        if (immediate.field() != 1) continue;
        var status = immediate.message();
        while (status.next()) if (status.field() == 1) return (int) status.number();
      }
      return 0;
    }

    private static String endpoint(String metadata) {
      var digits = metadata.replaceAll("(?s).*?(\\d+\\.\\d+\\.\\d+\\.\\d+:\\d+).*", "$1");
      return digits.equals(metadata) ? "" : digits;
    }
  }

  Call call() {
    return call(PROCESS);
  }

  Call call(String path) {
    return call(path, _ -> {});
  }

  /** A call whose answers are heard as they come. */
  Call call(String path, Consumer<Buffer> consumer) {
    var request = Network.await(client.request(HttpMethod.POST, port, "127.0.0.1", path));
    request.putHeader("content-type", "application/grpc").setChunked(true);
    var call = new Call(request, consumer);
    Network.await(request.writeHead());
    return call;
  }

  /** The first message of a request, in the mode of the given number. */
  static Writer head(int mode, Map<String, String> headers, @Nullable List<String> subset) {
    var map = new Writer();
    headers.forEach(
        (name, value) -> map.message(1, new Writer().text(1, name).bytes(3, Buffer.buffer(value))));
    var message =
        new Writer()
            .message(2, new Writer().message(1, map))
            .message(11, new Writer().number(1, mode).number(2, mode));
    if (subset == null) return message;
    var list = new Writer();
    for (var each : subset) list.message(1, new Writer().text(3, each));
    var value = new Writer().message(6, list);
    var struct = entry("x-gateway-destination-endpoint-subset", value);
    return message.message(8, entry("envoy.lb.subset_hint", struct));
  }

  private static Writer entry(String key, Writer value) {
    return new Writer().message(1, new Writer().text(1, key).message(2, value));
  }

  static Writer body(int field, String bytes, int isLast) {
    return new Writer()
        .message(field, new Writer().bytes(1, Buffer.buffer(bytes)).number(2, isLast));
  }

  @Override
  public void close() {
    Network.await(client.close());
  }
}
