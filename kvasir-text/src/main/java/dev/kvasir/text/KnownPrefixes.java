package dev.kvasir.text;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * Caches the tokens of texts, so that a text that begins like a cached one is tokenized only from
 * where they differ.
 *
 * <p>A text has a key every {@link #STEP} characters: the hash of all characters before. A text
 * that is found by a key is then compared character by character. Safe for use by several threads.
 */
final class KnownPrefixes {
  /**
   * The tokens of a text.
   *
   * @param marks for each place where it can be continued the letters and the tokens before it
   */
  @SuppressWarnings("ArrayRecordComponent") // never changed, never compared
  record Known(char[] text, int[] tokens, int[] marks) {}

  /** Beginning of a text that is known. */
  record Start(Known known, int letters, int tokens) {
    /** Returns whether all of the text is known. */
    boolean isAllOf(char[] text) {
      return Arrays.equals(known.text, text);
    }
  }

  /** Letters between two places by which a text is known. */
  static final int STEP = 1_024;

  private final KnownStarts<Long, Known> byHash;
  private final LongAdder found = new LongAdder();

  KnownPrefixes(long lettersMax) {
    this.byHash = new KnownStarts<>(lettersMax);
  }

  /**
   * The longest beginning that is known and can be continued.
   *
   * @param margin so many letters before texts part may depend on what comes
   */
  @Nullable
  Start find(char[] text, int margin) {
    if (text.length < STEP) return null;
    var known = byHash.find(hashes(text));
    if (known == null) return null;
    int common = Arrays.mismatch(known.text, text);
    if (common < 0) common = text.length;
    return start(known, common - margin);
  }

  private @Nullable Start start(Known known, int usable) {
    int low = 0;
    int high = known.marks.length / 2;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (known.marks[2 * middle] <= usable) low = middle + 1;
      else high = middle;
    }
    if (low == 0) return null;
    found.increment();
    return new Start(known, known.marks[2 * low - 2], known.marks[2 * low - 1]);
  }

  /** Returns how many texts were found to begin like another. */
  long found() {
    return found.sum();
  }

  /** Keeps the tokens of a text; what was not asked for for longest goes. */
  void keep(Known known) {
    byHash.keep(hashes(known.text), known, known.text.length);
  }

  private static List<Long> hashes(char[] text) {
    var hashes = new ArrayList<Long>(text.length / STEP);
    long hash = 1;
    for (int i = 0; i < text.length / STEP; i++) {
      // Two sums over the same characters: one alone is not collision-resistant enough.
      int first = 0;
      long second = 0;
      for (int at = i * STEP; at < (i + 1) * STEP; at++) {
        first = 31 * first + text[at];
        second += (long) text[at] * (at + 0x9E3779B97F4A7C15L);
      }
      hash = (hash ^ first) * 0x9E3779B97F4A7C15L + (second ^ hash >>> 29);
      hashes.add(hash);
    }
    return hashes;
  }
}
