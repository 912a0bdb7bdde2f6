package dev.kvasir.text;

import dev.kvasir.Nullable;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * Texts or prompts that came lately, each found by the keys of its beginnings.
 *
 * <p>A longer text that begins like another takes over the keys of what they share. A text counts
 * with its whole size as long as one key leads to it; keys that were not asked for for longest go.
 * Safe for use by several threads.
 */
public final class KnownStarts<K, V> {
  private static final class Entry<V> {
    private final V value;
    private final int size;
    private int keys;

    Entry(V value, int size) {
      this.value = value;
      this.size = size;
    }
  }

  private final long sizeMax;
  private final LinkedHashMap<K, Entry<V>> byKey = new LinkedHashMap<>(16, 0.75f, true);
  private long size;

  /** Keeps texts of that size in all. */
  public KnownStarts(long sizeMax) {
    this.sizeMax = sizeMax;
  }

  /** What the last of the keys leads to that is known; the keys go from short to long. */
  public synchronized @Nullable V find(List<K> keys) {
    V longest = null;
    // All of them count as asked for, so that what others begin with stays too.
    for (var key : keys) {
      var entry = byKey.get(key);
      if (entry != null) longest = entry.value;
    }
    return longest;
  }

  /** Keeps it under these keys, unless it is a large part of all that is kept. */
  public synchronized void keep(List<K> keys, V value, int itsSize) {
    if (keys.isEmpty() || itsSize > sizeMax / 4) return;
    var entry = new Entry<>(value, itsSize);
    size += itsSize;
    for (var key : keys) {
      entry.keys++;
      release(byKey.put(key, entry));
    }
    while (size > sizeMax) release(byKey.pollFirstEntry().getValue());
  }

  private void release(@Nullable Entry<V> entry) {
    if (entry != null && --entry.keys == 0) size -= entry.size;
  }

  /** The size of all that is kept. */
  public synchronized long size() {
    return size;
  }
}
