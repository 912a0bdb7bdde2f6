package dev.kvasir.live.gateway.worker;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientResponse;
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
  interface Reader {
    void came(Buffer part);

    /** The worker has sent all of it. */
    void ended();

    /** Nothing more will come. */
    void broke(Throwable why);
  }

  int status();

  MultiMap headers();

  void read(Reader reader);

  /** Lets the worker wait until {@link #resume}. */
  void pause();

  void resume();

  /** Nobody reads the rest. */
  void giveUp();

  /** Whether it comes event by event. */
  default boolean isStream() {
    var type = headers().get(HttpHeaders.CONTENT_TYPE);
    return type != null && type.toLowerCase(Locale.ROOT).startsWith("text/event-stream");
  }

  /** One that comes over a connection. */
  static WorkerAnswer of(HttpClientResponse response) {
    return new WorkerAnswer() {
      @Override
      public int status() {
        return response.statusCode();
      }

      @Override
      public MultiMap headers() {
        return response.headers();
      }

      @Override
      public void read(Reader reader) {
        response.handler(reader::came);
        response.endHandler(_ -> reader.ended());
        response.exceptionHandler(reader::broke);
      }

      @Override
      public void pause() {
        response.pause();
      }

      @Override
      public void resume() {
        response.resume();
      }

      @Override
      public void giveUp() {
        response.request().reset();
      }
    };
  }
}
