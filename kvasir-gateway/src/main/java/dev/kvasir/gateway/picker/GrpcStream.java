package dev.kvasir.gateway.picker;

import dev.kvasir.Nullable;
import dev.kvasir.net.Refused;
import dev.kvasir.net.server.BodyShare;
import dev.kvasir.net.server.HttpLimits;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.Consumer;

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
  static final int DEADLINE_EXCEEDED = 4;
  static final int RESOURCE_EXHAUSTED = 8;
  static final int UNIMPLEMENTED = 12;
  static final int INTERNAL = 13;

  /** Headers and metadata of a message beside its piece of a body. */
  static final int HEADS_BYTES = 256 << 10;

  private static final int HEAD_BYTES = 5;
  private static final long NO_ERROR = 0;

  /** Hears what comes; may throw {@link Proto.Malformed}. */
  interface Listener {
    void message(Buffer message);

    /** The longest message that may come next. */
    int messageBytesMax();

    /** Is called now and then, with the time. */
    void look(long nowNanos);

    /** The other side has said all it has to say. */
    void finished();

    /** The call is over, whoever ended it; comes once. */
    void over();
  }

  /** The end of a call. */
  enum End {
    ANSWERED,
    /** Before anything was sent to the other side. */
    FRUITLESS
  }

  private final HttpServerRequest request;
  private final Context context;
  private final HttpLimits limits;
  private final BodyShare share;
  private final Consumer<GrpcStream> ended;
  private final long begunNanos = System.nanoTime();
  private Buffer in = Buffer.buffer();

  /** Since when there is a part of a message. */
  private long partNanos;

  private boolean hasReceived;
  private boolean hasEnded;
  private boolean hasAnswered;
  private boolean over;
  private @Nullable Listener listener;

  /**
   * A call that has begun.
   *
   * @param share of the memory for bodies, for what is there of a message that is not whole
   */
  GrpcStream(
      HttpServerRequest request,
      Context context,
      HttpLimits limits,
      BodyShare share,
      Consumer<GrpcStream> ended) {
    this.request = request;
    this.context = context;
    this.limits = limits;
    this.share = share;
    this.ended = ended;
    request.response().putHeader("content-type", "application/grpc");
  }

  Context context() {
    return context;
  }

  HttpConnection connection() {
    return request.connection();
  }

  End how() {
    return hasAnswered ? End.ANSWERED : End.FRUITLESS;
  }

  /** Ends the call if its first message, or the rest of one, does not come in time. */
  void look(long nowNanos) {
    var current = listener;
    if (current == null || over || request.response().ended()) return;
    if (!hasReceived && nowNanos - begunNanos > limits.headTime().toNanos()) {
      end(DEADLINE_EXCEEDED, "the first message did not come in " + limits.headTime());
    } else if (in.length() > 0 && nowNanos - partNanos > limits.bodyTime().toNanos()) {
      end(DEADLINE_EXCEEDED, "the rest of a message did not come in " + limits.bodyTime());
    } else {
      current.look(nowNanos);
    }
  }

  void listen(Listener next) {
    listener = next;
    listen();
  }

  private void listen() {
    var listener = Objects.requireNonNull(this.listener);
    request.exceptionHandler(_ -> {});
    request.response().exceptionHandler(_ -> {});
    request.response().closeHandler(_ -> over(listener));
    request.response().endHandler(_ -> over(listener));
    request.handler(chunk -> guard(() -> receive(chunk, listener)));
    request.endHandler(
        _ -> {
          hasEnded = true;
          guard(() -> finished(listener));
        });
  }

  private void over(Listener listener) {
    if (over) return;
    over = true;
    in = Buffer.buffer();
    share.end();
    listener.over();
    ended.accept(this);
  }

  private void guard(Runnable work) {
    if (over || request.response().ended()) return;
    try {
      work.run();
    } catch (Proto.Malformed e) {
      end(INVALID_ARGUMENT, "not a message that can be read: " + e.getMessage());
    } catch (Refused refused) {
      end(RESOURCE_EXHAUSTED, refused.error().message());
    }
  }

  private void finished(Listener listener) {
    if (in.length() > 0) throw new Proto.Malformed("a message that breaks off");
    listener.finished();
  }

  private void receive(Buffer chunk, Listener listener) {
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
      int most = listener.messageBytesMax();
      if (length > most) {
        end(RESOURCE_EXHAUSTED, "a message has at most " + most + " bytes here");
        return;
      }
      if (in.length() - at - HEAD_BYTES < length) break;
      int from = at + HEAD_BYTES;
      at = from + (int) length;
      hasReceived = true;
      listener.message(in.getBuffer(from, at));
      if (over || request.response().ended()) return;
    }
    int rest = in.length() - at;
    if (at > 0 || isForeign) partNanos = System.nanoTime();
    if (rest == 0) in = Buffer.buffer();
    else if (at > 0 || isForeign) in = Buffer.buffer().appendBuffer(in, at, rest);
    if (rest > 0 || !isForeign) share.hold(rest);
  }

  void send(Buffer message) {
    if (over || request.response().ended()) return;
    hasAnswered = true;
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
    if (hasEnded) return;
    // The other side may still be sending, and is to end the stream soon.
    context.owner().setTimer(limits.headTime().toMillis(), _ -> response.reset(NO_ERROR));
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
