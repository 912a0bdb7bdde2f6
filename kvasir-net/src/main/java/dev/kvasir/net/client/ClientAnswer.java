package dev.kvasir.net.client;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;

/**
 * An answer of which the head has come; belongs to the loop of its call.
 *
 * <p>It ends in exactly one of {@link Reader#ended} and {@link Reader#broke}, or in silence after
 * the call was cancelled. Parts that come before somebody reads are dropped.
 */
public interface ClientAnswer {
  /** Hears the rest of the answer. */
  interface Reader {
    /** A part of the body, which the reader may keep and add to. */
    void came(Buffer part);

    /** The answer is whole. */
    void ended();

    /** Nothing more will come. */
    void broke(String why);
  }

  int status();

  /** By names in small letters; not to be changed. */
  MultiMap headers();

  void read(Reader reader);

  /** Lets the server wait until {@link #resume}. */
  void pause();

  void resume();
}
