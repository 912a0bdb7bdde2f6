package dev.kvasir.live.picker;

import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.nio.charset.StandardCharsets;

/**
 * One call of gRPC over HTTP/2: messages both ways until either side ends it; belongs to the loop
 * of its connection.
 *
 * <p>A message is a byte that says whether it is compressed, its length in four bytes, and itself.
 * A message longer than the limit ends the call before more of it is taken in.
 */
final class GrpcStream {
  static final int OK = 0;
  static final int INVALID_ARGUMENT = 3;
  static final int RESOURCE_EXHAUSTED = 8;
  static final int UNIMPLEMENTED = 12;
  static final int INTERNAL = 13;

  private static final int HEAD_BYTES = 5;

  /** Hears what comes; may throw {@link Proto.Malformed}. */
  interface Listener {
    void message(Buffer message);

    /** The other side has said all it has to say. */
    void finished();

    /** The call is over, whoever ended it; comes once. */
    void over();
  }

  private final HttpServerRequest request;
  private final Context context;
  private final int messageBytesMax;
  private Buffer in = Buffer.buffer();
  private boolean over;

  GrpcStream(HttpServerRequest request, Context context, int messageBytesMax) {
    this.request = request;
    this.context = context;
    this.messageBytesMax = messageBytesMax;
    request.response().putHeader("content-type", "application/grpc");
  }

  Context context() {
    return context;
  }

  void listen(Listener listener) {
    request.exceptionHandler(_ -> {});
    request.response().exceptionHandler(_ -> {});
    request.response().closeHandler(_ -> over(listener));
    request.response().endHandler(_ -> over(listener));
    request.handler(chunk -> guard(() -> take(chunk, listener)));
    request.endHandler(_ -> guard(() -> finished(listener)));
  }

  private void over(Listener listener) {
    if (over) return;
    over = true;
    in = Buffer.buffer();
    listener.over();
  }

  private void guard(Runnable work) {
    if (over || request.response().ended()) return;
    try {
      work.run();
    } catch (Proto.Malformed e) {
      end(INVALID_ARGUMENT, "not a message that can be read: " + e.getMessage());
    }
  }

  private void finished(Listener listener) {
    if (in.length() > 0) throw new Proto.Malformed("a message that breaks off");
    listener.finished();
  }

  private void take(Buffer chunk, Listener listener) {
    // What is left over of a chunk is a buffer of our own, which grows by doubling.
    boolean isForeign = in.length() == 0;
    in = isForeign ? chunk : in.appendBuffer(chunk);
    int at = 0;
    while (in.length() - at >= HEAD_BYTES) {
      if (in.getByte(at) != 0) {
        end(UNIMPLEMENTED, "messages are not to be compressed");
        return;
      }
      long length = in.getUnsignedInt(at + 1);
      if (length > messageBytesMax) {
        end(RESOURCE_EXHAUSTED, "a message has at most " + messageBytesMax + " bytes");
        return;
      }
      if (in.length() - at - HEAD_BYTES < length) break;
      int from = at + HEAD_BYTES;
      at = from + (int) length;
      listener.message(in.getBuffer(from, at));
      if (over || request.response().ended()) return;
    }
    if (at == in.length()) in = Buffer.buffer();
    else if (at > 0 || isForeign) in = Buffer.buffer().appendBuffer(in, at, in.length() - at);
  }

  void send(Buffer message) {
    if (over || request.response().ended()) return;
    var frame = Buffer.buffer(HEAD_BYTES + message.length());
    frame.appendByte((byte) 0).appendInt(message.length()).appendBuffer(message);
    request.response().write(frame);
  }

  /** Ends the call; everything but {@link #OK} is an error for the other side. */
  void end(int status, String message) {
    if (over || request.response().ended()) return;
    var response = request.response();
    response.putTrailer("grpc-status", Integer.toString(status));
    if (!message.isEmpty()) response.putTrailer("grpc-message", escaped(message));
    response.end();
  }

  /** Everything but plain characters is written as a percent sign and two digits. */
  private static String escaped(String message) {
    var out = new StringBuilder();
    for (byte each : message.getBytes(StandardCharsets.UTF_8)) {
      if (each >= ' ' && each <= '~' && each != '%') out.append((char) each);
      else out.append("%%%02X".formatted(each & 0xff));
    }
    return out.toString();
  }
}
