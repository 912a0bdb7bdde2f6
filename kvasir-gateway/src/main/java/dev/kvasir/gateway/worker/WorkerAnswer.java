package dev.kvasir.gateway.worker;

import dev.kvasir.net.client.ClientAnswer;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import java.util.Locale;

/**
 * The answer of a worker, of which the head has come; belongs to the loop of its call.
 *
 * <p>Whoever gets it reads it at once. It ends in exactly one of {@link Reader#ended} and {@link
 * Reader#broke}, or in silence after it was given up.
 */
public interface WorkerAnswer {
  /** Hears the answer. */
  interface Reader extends ClientAnswer.Reader {}

  int status();

  /** Not to be changed. */
  MultiMap headers();

  void read(Reader reader);

  /** Lets the worker wait until {@link #resume}. */
  void pause();

  void resume();

  /** Nobody reads the rest. */
  void giveUp();

  /** Returns whether the answer comes event by event. */
  default boolean isStream() {
    var type = headers().get(HttpHeaders.CONTENT_TYPE);
    return type != null && type.toLowerCase(Locale.ROOT).startsWith("text/event-stream");
  }

  /** One that comes over a connection, to a call that can be given up. */
  static WorkerAnswer of(ClientAnswer answer, Runnable giveUp) {
    return new WorkerAnswer() {
      @Override
      public int status() {
        return answer.status();
      }

      @Override
      public MultiMap headers() {
        return answer.headers();
      }

      @Override
      public void read(Reader reader) {
        answer.read(reader);
      }

      @Override
      public void pause() {
        answer.pause();
      }

      @Override
      public void resume() {
        answer.resume();
      }

      @Override
      public void giveUp() {
        giveUp.run();
      }
    };
  }
}
