package dev.kvasir.net.server;

import dev.kvasir.Nullable;
import dev.kvasir.net.ApiError;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * An answer of server-sent events, from any one thread at a time.
 *
 * <p>Events that come faster than the loop of the connection turns are written together. Who does
 * not read is let go before more than a bounded number of bytes waits. The stream ends with {@code
 * [DONE]}, with an event that says what went wrong, or by a reset; never just so.
 */
public final class EventStream {
  private static final Map<String, String> HEADERS =
      Map.of(
          "content-type", "text/event-stream; charset=utf-8",
          "cache-control", "no-cache",
          "x-accel-buffering", "no");

  private static final int WAITING_BYTES_MAX = 1 << 20;
  private static final byte[] BEGIN = "data: ".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] END = "\n\n".getBytes(StandardCharsets.US_ASCII);
  private static final String DONE = "[DONE]";

  private final Reply reply;
  private @Nullable Buffer waiting;
  private boolean flushing;
  private boolean complete;
  private boolean gone;

  private EventStream(Reply reply) {
    this.reply = reply;
  }

  static EventStream begin(Reply reply) {
    var stream = new EventStream(reply);
    reply.whenOver(stream::leave);
    if (!reply.isOver()) reply.writeHead(HEADERS);
    return stream;
  }

  /** Sends an event with this text; false once nobody reads any more. */
  public boolean send(String text) {
    return add(text);
  }

  /** All has been said. */
  public void done() {
    add(DONE);
    complete();
  }

  /** It cannot go on, and says why. */
  public void fail(ApiError error) {
    add(error.json());
    complete();
  }

  /** Breaks off, so that the caller notices. */
  public void reset() {
    leave();
    reply.context().runOnContext(_ -> reply.reset());
  }

  public synchronized boolean isGone() {
    return gone;
  }

  private boolean add(String text) {
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    boolean flooded;
    synchronized (this) {
      if (complete) throw new IllegalStateException("an event after the end: " + text);
      if (gone) return false;
      if (waiting == null) waiting = Buffer.buffer(bytes.length + BEGIN.length + END.length);
      waiting.appendBytes(BEGIN).appendBytes(bytes).appendBytes(END);
      flooded = waiting.length() > WAITING_BYTES_MAX;
      if (!flooded) schedule();
    }
    if (flooded) reset();
    return !flooded;
  }

  private synchronized void complete() {
    complete = true;
    if (!gone) schedule();
  }

  private synchronized void leave() {
    gone = true;
    waiting = null;
  }

  /** Called with the lock held. */
  private void schedule() {
    if (flushing) return;
    flushing = true;
    reply.context().runOnContext(_ -> flush());
  }

  /** On the loop of the connection: writes what waits, unless the caller is slow to read. */
  private void flush() {
    Buffer out;
    boolean last;
    synchronized (this) {
      flushing = false;
      if (gone || reply.isOver()) return;
      if (reply.isFull()) {
        flushing = true;
        reply.whenDrained(this::flush);
        return;
      }
      out = waiting == null ? Buffer.buffer() : waiting;
      waiting = null;
      last = complete;
    }
    if (last) {
      reply.end(out);
    } else {
      reply.write(out);
    }
  }
}
