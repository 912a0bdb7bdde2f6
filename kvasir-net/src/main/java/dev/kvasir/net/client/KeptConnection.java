package dev.kvasir.net.client;

import dev.kvasir.Nullable;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.impl.ConnectionBase;
import java.util.Objects;

/**
 * A connection to a server, with one call at a time; belongs to one loop.
 *
 * <p>It takes another call only after an answer that is whole, with nothing behind it, to a request
 * that is out as a whole.
 */
final class KeptConnection implements AnswerParser.Sink {
  /** Up to so many bytes, a body is copied behind its head and sent with it. */
  private static final int COPIED_BYTES_MAX = 64 << 10;

  private final ConnectionPool pool;
  private final NetSocket socket;
  private final AnswerParser parser = new AnswerParser(this);
  private @Nullable ClientCall call;
  private @Nullable AnswerHead answer;
  private @Nullable Throwable trouble;
  private boolean closed;
  private boolean paused;
  private int unsent;

  /** Runs while a head has come in part; -1 otherwise. */
  private long headTimer = -1;

  /** When it is to be closed if it rests until then. */
  private long restsUntilNanos;

  KeptConnection(ConnectionPool pool, NetSocket socket) {
    this.pool = pool;
    this.socket = socket;
    socket.handler(this::received);
    socket.exceptionHandler(failure -> trouble = failure);
    socket.endHandler(_ -> ended());
    socket.closeHandler(_ -> left());
  }

  void send(ClientCall next) {
    call = next;
    answer = null;
    next.sentBy(this);
    parser.expect(next.request.method());
    var body = next.request.body();
    if (body.length() <= COPIED_BYTES_MAX) {
      int bytes = next.head.length + body.length();
      write(Buffer.buffer(bytes).appendBytes(next.head).appendBuffer(body));
    } else {
      write(Buffer.buffer(next.head));
      write(body);
    }
  }

  private void write(Buffer bytes) {
    unsent++;
    socket.write(bytes).onComplete(_ -> unsent--);
  }

  private void received(Buffer bytes) {
    if (call == null) {
      // Bytes that answer nothing: what comes next could not be told apart from them.
      abandon();
      return;
    }
    try {
      int rest = read(bytes);
      watchHead();
      if (parser.isDone() && !isDeaf()) finish(rest);
    } catch (MalformedAnswer malformed) {
      breakOff("the answer is not HTTP that can be read: " + malformed.getMessage());
    }
  }

  /** The head of an answer is written at once, whatever came before it took. */
  private void watchHead() {
    if (parser.isWithinHead() == (headTimer >= 0)) return;
    if (headTimer < 0) {
      headTimer = pool.afterHeadTime(() -> breakOff("the head of the answer did not end"));
    } else {
      pool.cancel(headTimer);
      headTimer = -1;
    }
  }

  /** Reads the bytes; if a listener throws, the rest is lost and nothing more can be read here. */
  private int read(Buffer bytes) throws MalformedAnswer {
    try {
      return parser.feed(bytes);
    } catch (RuntimeException bug) {
      breakOff("what came of the answer could not be used: " + bug);
      throw bug;
    }
  }

  @Override
  public void head(AnswerHead head) {
    answer = head;
    if (call != null) call.answered(head);
  }

  @Override
  public void part(Buffer part) {
    if (call != null) call.came(part);
  }

  @Override
  public boolean isDeaf() {
    return call == null || call.isOver();
  }

  /** The answer is whole, with so many bytes behind it. */
  private void finish(int rest) {
    var done = Objects.requireNonNull(call);
    var head = Objects.requireNonNull(answer);
    call = null;
    if (paused) resume();
    boolean usable = head.isKept() && rest == 0 && unsent == 0 && !closed;
    if (usable) pool.release(this, head.keptSeconds());
    else abandon();
    done.ended();
  }

  /** All bytes of the server have been heard. */
  private void ended() {
    if (call == null) return;
    if (trouble == null && parser.endsWithConnection()) {
      var done = call;
      call = null;
      done.ended();
    } else {
      breakOff(trouble == null ? "the connection was closed" : String.valueOf(trouble));
    }
  }

  private void breakOff(String why) {
    var broken = call;
    abandon();
    if (broken != null) broken.broke(why);
  }

  /** The socket is closed; what came before is heard all the same. */
  private void left() {
    closed = true;
    if (headTimer >= 0) pool.cancel(headTimer);
    pool.left(this);
  }

  /**
   * Closes it at once. By its public interface, Vert.x would first send what waits to be sent,
   * which takes for ever where nobody reads. What has come and waits to be read is read, as Vert.x
   * keeps some of it outside the heap and would forget it there.
   */
  void abandon() {
    call = null;
    if (paused) resume();
    if (headTimer >= 0) pool.cancel(headTimer);
    if (closed) return;
    closed = true;
    pool.left(this);
    if (socket instanceof ConnectionBase base) {
      var _ = base.channelHandlerContext().close();
    } else {
      socket.close();
    }
  }

  void pause() {
    paused = true;
    socket.pause();
  }

  void resume() {
    paused = false;
    socket.resume();
  }

  void restUntil(long nanos) {
    restsUntilNanos = nanos;
  }

  boolean isStale(long nowNanos) {
    return closed || nowNanos - restsUntilNanos >= 0;
  }
}
