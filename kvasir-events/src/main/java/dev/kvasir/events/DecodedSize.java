package dev.kvasir.events;

/** Counts what becomes of one message, before it is made: bytes of the heap, and hashes. */
final class DecodedSize {
  /** Of an event with all its names, and of a list of extra keys in it; all somewhat too much. */
  static final int EVENT = 160;

  static final int TOKEN = Integer.BYTES;
  static final int SLOT = 8;
  static final int KEYS = 64;
  static final int KEY = 96;
  private static final int WORD = Long.BYTES;
  private static final int DIGEST = 80;

  private final int hashesMax;
  private final long bytesMax;
  private long bytes;
  private long hashes;

  DecodedSize(int hashesMax, long bytesMax) {
    this.hashesMax = hashesMax;
    this.bytesMax = bytesMax;
  }

  long bytes() {
    return bytes;
  }

  void hashes(int count) throws MalformedFrame {
    hashes += count;
    if (hashes > hashesMax) {
      throw MalformedFrame.excess(hashes + " hashes in a batch, at most " + hashesMax);
    }
    add(count, WORD);
  }

  /** One of the hashes is a whole digest. */
  void digest() throws MalformedFrame {
    add(1, DIGEST - WORD);
  }

  void add(int count, int bytesEach) throws MalformedFrame {
    bytes += (long) count * bytesEach;
    if (bytes > bytesMax) {
      throw MalformedFrame.excess("a batch that takes more than " + bytesMax + " bytes of memory");
    }
  }
}
