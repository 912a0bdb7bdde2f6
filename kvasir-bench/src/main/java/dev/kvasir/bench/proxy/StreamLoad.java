package dev.kvasir.bench.proxy;

import dev.kvasir.Nullable;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Callers who ask one server for short streams, each for the next as soon as one has ended. */
final class StreamLoad {
  private static final byte[] DONE = ascii("[DONE]\n\n");
  private static final byte[] LAST_CHUNK = ascii("\r\n0\r\n\r\n");
  private static final long MICROS_MAX = 10_000_000;
  private static final int PATIENCE_MILLIS = Integer.getInteger("patience", 10) * 1_000;

  private final List<Loop> loops = new ArrayList<>();
  private final Buffer request;

  /** Callers of one event loop. */
  private record Loop(Vertx vertx, Context context, NetClient client) {
    Loop(Vertx vertx) {
      this(vertx, vertx.getOrCreateContext(), vertx.createNetClient());
    }
  }

  StreamLoad(Vertx vertx) {
    this(List.of(vertx));
  }

  /** The callers are spread over one event loop of each. */
  StreamLoad(List<Vertx> all) {
    for (var vertx : all) loops.add(new Loop(vertx));
    var prompt = "a prompt of some length, as conversations have it; ".repeat(20);
    var body =
        "{\"model\":\"bench\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\""
            + prompt
            + "\"}]}";
    this.request =
        Buffer.buffer(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
                + "content-type: application/json\r\ncontent-length: "
                + body.length()
                + "\r\n\r\n"
                + body);
  }

  /**
   * Runs so many callers for a time, and returns how long each stream took, in microseconds.
   *
   * @param pauseMillis between two requests of a caller; 0 for none
   * @throws IllegalStateException where a stream does not come or does not end
   */
  Histogram run(int port, int callers, int pauseMillis, int millis) throws InterruptedException {
    var all = new ArrayList<Caller>();
    var left = new CountDownLatch(callers);
    long end = System.nanoTime() + millis * 1_000_000L;
    for (int i = 0; i < callers; i++) {
      var caller = new Caller(loops.get(i % loops.size()), pauseMillis, end, left);
      all.add(caller);
      caller.loop.context.runOnContext(_ -> caller.come(port));
    }
    boolean isDone = left.await(millis + PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
    long hung = left.getCount();
    for (var caller : all) caller.loop.context.runOnContext(_ -> caller.leave());
    if (!isDone) {
      throw new IllegalStateException(
          "%d of %d streams have not ended %d s after the last was asked for"
              .formatted(hung, callers, PATIENCE_MILLIS / 1_000));
    }
    for (var caller : all) {
      if (caller.refused != null) throw new IllegalStateException(caller.refused);
    }
    var sum = new Histogram(MICROS_MAX, 3);
    for (var caller : all) sum.add(caller.micros);
    return sum;
  }

  /** One connection. */
  private final class Caller {
    final Histogram micros = new Histogram(MICROS_MAX, 3);
    private final Loop loop;
    private final int pauseMillis;
    private final long endNanos;
    private final CountDownLatch left;
    private final byte[] tail = new byte[DONE.length];
    private byte[] end = DONE;
    private boolean isHead;
    private long sentNanos;
    private @Nullable NetSocket socket;

    /** Answer that came in place of a stream. */
    private volatile @Nullable String refused;

    Caller(Loop loop, int pauseMillis, long endNanos, CountDownLatch left) {
      this.loop = loop;
      this.pauseMillis = pauseMillis;
      this.endNanos = endNanos;
      this.left = left;
    }

    void come(int port) {
      loop.client
          .connect(port, "127.0.0.1")
          .onFailure(error -> refuse("no connection: " + error.getMessage()))
          .onSuccess(
              connected -> {
                socket = connected;
                connected.handler(bytes -> receive(connected, bytes));
                connected.exceptionHandler(_ -> {});
                send(connected);
              });
    }

    /** Closes what a stream that does not end has left open. */
    void leave() {
      if (socket != null) socket.close();
    }

    private void refuse(String reason) {
      refused = reason;
      leave();
      left.countDown();
    }

    private void send(NetSocket socket) {
      isHead = true;
      sentNanos = System.nanoTime();
      socket.write(request);
    }

    private void receive(NetSocket socket, Buffer bytes) {
      if (isHead && !bytes.toString().startsWith("HTTP/1.1 200")) {
        refuse("no stream, but " + bytes);
        return;
      }
      if (!endsStream(bytes)) return;
      long now = System.nanoTime();
      micros.recordValue((now - sentNanos) / 1_000);
      if (now > endNanos) {
        socket.close();
        left.countDown();
      } else if (pauseMillis == 0) {
        send(socket);
      } else {
        loop.vertx.setTimer(pauseMillis, _ -> send(socket));
      }
    }

    /** The first bytes of an answer tell how its end can be known. */
    private boolean endsStream(Buffer bytes) {
      if (isHead) end = bytes.toString().contains("chunked\r\n") ? LAST_CHUNK : DONE;
      isHead = false;
      int fresh = Math.min(bytes.length(), tail.length);
      System.arraycopy(tail, fresh, tail, 0, tail.length - fresh);
      bytes.getBytes(bytes.length() - fresh, bytes.length(), tail, tail.length - fresh);
      int from = tail.length - end.length;
      return Arrays.equals(tail, from, tail.length, end, 0, end.length);
    }
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
