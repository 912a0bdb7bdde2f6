package dev.kvasir.tools.load;

import dev.kvasir.Nullable;
import dev.kvasir.net.Json;
import dev.kvasir.net.Refused;
import dev.kvasir.net.openai.EventSplitter;
import dev.kvasir.net.openai.Usage;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.LongSupplier;
import tools.jackson.databind.JsonNode;

/** An answer while it is being read, a piece of text at a time. */
final class Reading {
  private static final int MESSAGE_MAX = 200;
  private static final String DONE = "[DONE]";

  private final LongSupplier clock;
  private final EventSplitter events = new EventSplitter(this::event);
  private long[] gaps = new long[64];
  private int pieces;
  private long firstNanos;
  private long lastNanos;
  private long doneNanos;
  private boolean done;
  private @Nullable Usage usage;
  private Answer.@Nullable Failed failure;

  Reading(LongSupplier clock) {
    this.clock = clock;
  }

  void feed(Buffer bytes) {
    events.feed(bytes);
    if (events.isTorn()) fail("unreadable", "an event that is too long");
  }

  /** Returns whether nothing more is expected. */
  boolean isOver() {
    return done || failure != null;
  }

  /** Returns the answer as far as it came, now that no more will come. */
  Answer end() {
    if (failure != null) return failure;
    if (!done) return new Answer.Failed("truncated", "the stream ended without [DONE]");
    if (pieces == 0) firstNanos = lastNanos = doneNanos;
    var counted = usage == null ? new Usage(0, pieces, 0) : usage;
    int gapCount = Math.max(0, pieces - 1);
    return new Answer.Complete(
        firstNanos, lastNanos, doneNanos, Arrays.copyOf(gaps, gapCount), counted);
  }

  private void event(byte[] data) {
    if (isOver()) return;
    long now = clock.getAsLong();
    if (new String(data, StandardCharsets.UTF_8).equals(DONE)) {
      done = true;
      doneNanos = now;
      return;
    }
    try {
      chunk(Json.read(data), now);
    } catch (Refused e) {
      fail("unreadable", e.error().message());
    }
  }

  private void chunk(JsonNode chunk, long now) {
    if (chunk.has("error")) {
      fail("in stream", message(chunk));
      return;
    }
    for (var choice : chunk.path("choices")) {
      if (hasText(choice)) piece(now);
    }
    var node = chunk.path("usage");
    if (node.isObject()) usage = usage(node);
  }

  private void piece(long now) {
    if (pieces == 0) {
      firstNanos = now;
    } else {
      if (pieces > gaps.length) gaps = Arrays.copyOf(gaps, 2 * gaps.length);
      gaps[pieces - 1] = now - lastNanos;
    }
    lastNanos = now;
    pieces++;
  }

  private void fail(String kind, String message) {
    if (failure == null) failure = new Answer.Failed(kind, message);
  }

  private static boolean hasText(JsonNode choice) {
    var delta = choice.path("delta");
    return !choice.path("text").asString("").isEmpty()
        || !delta.path("content").asString("").isEmpty()
        || !delta.path("reasoning_content").asString("").isEmpty()
        || !delta.path("reasoning").asString("").isEmpty();
  }

  /** A count that the server does not report is 0. */
  private static Usage usage(JsonNode node) {
    var usage = Usage.of(node);
    return new Usage(
        Math.max(0, usage.promptTokens()),
        Math.max(0, usage.outputTokens()),
        Math.max(0, usage.cachedTokens()));
  }

  /** Returns the message of an error: of an object with a message, or just text. */
  static String message(JsonNode body) {
    var error = body.path("error");
    var text = error.isString() ? error.asString("") : error.path("message").asString("");
    return text.length() <= MESSAGE_MAX ? text : text.substring(0, MESSAGE_MAX) + " …";
  }
}
