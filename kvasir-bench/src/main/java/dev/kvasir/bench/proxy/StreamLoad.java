package dev.kvasir.bench.proxy;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Callers who ask one server for short streams, each for the next as soon as one has ended. */
final class StreamLoad {
  private static final byte[] DONE = ascii("[DONE]\n\n");
  private static final byte[] LAST_CHUNK = ascii("\r\n0\r\n\r\n");
  private static final long MICROS_MAX = 10_000_000;
  private static final int PATIENCE_MILLIS = 20_000;

  private final Vertx vertx;
  private final Context context;
  private final NetClient client;
  private final Buffer request;

  StreamLoad(Vertx vertx) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.client = vertx.createNetClient();
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
   */
  Histogram run(int port, int callers, int pauseMillis, int millis) throws InterruptedException {
    var all = new ArrayList<Caller>();
    var left = new CountDownLatch(callers);
    long end = System.nanoTime() + millis * 1_000_000L;
    for (int i = 0; i < callers; i++) all.add(new Caller(pauseMillis, end, left));
    context.runOnContext(_ -> all.forEach(caller -> caller.come(port)));
    if (!left.await(millis + PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException("streams from port " + port + " do not end");
    }
    var sum = new Histogram(MICROS_MAX, 3);
    for (var caller : all) sum.add(caller.micros);
    return sum;
  }

  /** One connection. */
  private final class Caller {
    final Histogram micros = new Histogram(MICROS_MAX, 3);
    private final int pauseMillis;
    private final long endNanos;
    private final CountDownLatch left;
    private final byte[] tail = new byte[DONE.length];
    private byte[] end = DONE;
    private boolean isHead;
    private long sentNanos;

    Caller(int pauseMillis, long endNanos, CountDownLatch left) {
      this.pauseMillis = pauseMillis;
      this.endNanos = endNanos;
      this.left = left;
    }

    void come(int port) {
      client
          .connect(port, "127.0.0.1")
          .onSuccess(
              socket -> {
                socket.handler(bytes -> heard(socket, bytes));
                socket.exceptionHandler(_ -> {});
                ask(socket);
              });
    }

    private void ask(NetSocket socket) {
      isHead = true;
      sentNanos = System.nanoTime();
      socket.write(request);
    }

    private void heard(NetSocket socket, Buffer bytes) {
      if (isHead && !bytes.toString().startsWith("HTTP/1.1 200")) {
        System.err.println("no stream, but " + bytes);
        return;
      }
      if (!endsStream(bytes)) return;
      long now = System.nanoTime();
      micros.recordValue((now - sentNanos) / 1_000);
      if (now > endNanos) {
        socket.close();
        left.countDown();
      } else if (pauseMillis == 0) {
        ask(socket);
      } else {
        vertx.setTimer(pauseMillis, _ -> ask(socket));
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
