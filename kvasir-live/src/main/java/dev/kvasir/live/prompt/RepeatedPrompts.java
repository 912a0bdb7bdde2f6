package dev.kvasir.live.prompt;

import dev.kvasir.Nullable;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The tokens of a few prompts that came lately, for requests that are the same to the byte, as when
 * several answers to one prompt are asked for. From any thread.
 *
 * @param <M> whose tokens they are
 * @param <F> what was known of it then
 */
final class RepeatedPrompts<M, F> {
  /** A request, and the tokens of its prompt. */
  @SuppressWarnings("ArrayRecordComponent") // never changed, never compared
  record Known<M, F>(String path, byte[] fields, M by, F found, int[] tokens) {}

  private static final int PLACES = 64;

  /** Longer ones are hardly repeated, and would take too much room. */
  static final int BYTES_MAX = 8 << 10;

  private final AtomicReferenceArray<@Nullable Known<M, F>> places =
      new AtomicReferenceArray<>(PLACES);

  /** The same request, if it came lately. */
  @Nullable
  Known<M, F> find(String path, byte[] fields) {
    if (fields.length > BYTES_MAX) return null;
    var known = places.get(place(fields));
    if (known == null || !known.path.equals(path)) return null;
    return Arrays.equals(known.fields, fields) ? known : null;
  }

  /** Keeps it in the place of another. */
  void keep(Known<M, F> known) {
    if (known.fields.length <= BYTES_MAX) places.set(place(known.fields), known);
  }

  private static int place(byte[] fields) {
    int hash = Arrays.hashCode(fields);
    return (hash ^ hash >>> 16 ^ hash >>> 8) & PLACES - 1;
  }
}
