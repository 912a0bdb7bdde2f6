package dev.kvasir.net.server;

import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.Nullable;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import dev.kvasir.net.auth.Caller;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import java.util.Map;

/**
 * A request and whoever waits for its answer: an {@link Exchange} over HTTP, or a call within the
 * process. Belongs to the loop of its context.
 *
 * <p>Whatever becomes of it, it ends exactly once: when the answer is out, or the caller is gone.
 */
public interface Reply {
  /** The loop on which all of this is to be called. */
  Context context();

  Caller caller();

  /** The path of the request, as it stands there. */
  String path();

  @Nullable
  String header(String name);

  Buffer body();

  /** Returns whether there is nobody left to answer, or nothing left to say. */
  boolean isOver();

  /** Runs the task when the request is over, in the order they came; at once if it is already. */
  void whenOver(Runnable task);

  /** Somebody answers it who has limits of time of his own; until then the server's hold. */
  void handOver();

  void answer(int status, String contentType, Buffer content);

  default void answer(int status, String json) {
    answer(status, "application/json", Buffer.buffer(json));
  }

  /** Says why the request is not served; resets where an answer has already begun. */
  void fail(ApiError error);

  /** Breaks off, so that the caller cannot take what it has for all. */
  void reset();

  /** Ends the answer where it is, as if that were all. */
  void truncate();

  /** Begins an answer of events, and sends its head. */
  default EventStream stream() {
    return EventStream.begin(this);
  }

  /** Sends the head of an answer that comes in parts. */
  void writeHead(Map<String, String> headers);

  /** Sends a part of the answer. */
  void write(Buffer part);

  /** Sends the last part of the answer. */
  void end(Buffer part);

  /** Returns whether the caller is slow to read. */
  boolean isFull();

  /** Runs the task once the caller has read what was sent. */
  void whenDrained(Runnable task);

  /** Does more of the work on this loop; whatever it throws is answered. */
  default void guard(Runnable work) {
    try {
      work.run();
    } catch (Refused refused) {
      fail(refused.error());
    } catch (RuntimeException | Error bug) {
      System.getLogger(Reply.class.getName()).log(ERROR, "serving " + path() + " failed", bug);
      fail(ApiError.internal());
    }
  }

  /** As {@link #guard}, for work on another thread than that of the connection. */
  default void guardElsewhere(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error bug) {
      context()
          .runOnContext(
              _ ->
                  guard(
                      () -> {
                        throw bug;
                      }));
    }
  }
}
