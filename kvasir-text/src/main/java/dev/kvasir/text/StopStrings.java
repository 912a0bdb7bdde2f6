package dev.kvasir.text;

import java.util.List;

/**
 * Searches a growing text for the first of several stop strings.
 *
 * <p>Text that may be the beginning of a stop string is held back, so no part of a stop string is
 * ever returned, however it is split into tokens.
 */
public final class StopStrings {
  private static final int STRINGS_MAX = 16;
  private static final int CHARS_MAX = 1_024;

  private final List<String> stops;
  private String held = "";
  private boolean stopped;

  public StopStrings(List<String> stops) {
    if (stops.size() > STRINGS_MAX) {
      throw new IllegalArgumentException(
          stops.size() + " stop strings, expected at most " + STRINGS_MAX);
    }
    for (var stop : stops) {
      if (stop.isEmpty() || stop.length() > CHARS_MAX) {
        throw new IllegalArgumentException(
            "a stop string of " + stop.length() + " characters, expected 1 to " + CHARS_MAX);
      }
    }
    this.stops = List.copyOf(stops);
  }

  /** Returns whether one of the strings has come; then the text is over. */
  public boolean stopped() {
    return stopped;
  }

  /** Adds text, and returns the text that certainly belongs to the answer. */
  public String push(String more) {
    if (stopped || more.isEmpty()) return "";
    var text = held + more;
    int first = text.length();
    for (var stop : stops) {
      int at = text.indexOf(stop);
      if (at >= 0 && at < first) {
        first = at;
        stopped = true;
      }
    }
    int sure = stopped ? first : text.length() - heldBack(text);
    held = stopped ? "" : text.substring(sure);
    return text.substring(0, sure);
  }

  /** Returns what was held back, when no more text comes. */
  public String finish() {
    var rest = held;
    held = "";
    return rest;
  }

  /** The length of the longest end of the text that begins a stop string. */
  private int heldBack(String text) {
    int longest = 0;
    for (var stop : stops) {
      int most = Math.min(stop.length() - 1, text.length());
      for (int length = most; length > longest; length--) {
        if (text.startsWith(stop.substring(0, length), text.length() - length)) longest = length;
      }
    }
    return longest;
  }
}
