package dev.kvasir.kv.name;

import java.nio.ByteBuffer;

/**
 * The 128-bit name KVBM gives a block, its "positional lineage hash": how many blocks come before
 * it, the 64-bit hash of the sequence up to its end, and some bits of the hash of its parent.
 *
 * <p>From the top bit down: mode (2 bits), position (8, 16 or 24 bits in mode 0, 1, 2), current
 * sequence hash (64 bits), low bits of the parent's sequence hash (54, 46 or 38). The smallest mode
 * that holds the position is the only one allowed; the parent bits of a first block are zero. The
 * order is by position, then current hash, then all bits, each without sign.
 *
 * @param high the upper 64 bits
 * @param low the lower 64 bits
 */
public record LineageHash(long high, long low) implements Comparable<LineageHash> {
  /** The most blocks a lineage can hold; positions are smaller. */
  public static final int BLOCKS_MAX = 1 << 24;

  static final int BYTES = 2 * Long.BYTES;

  /** What KVBM seeds the chain with, whatever the salt of the blocks. */
  static final long CHAIN_SEED = 1337;

  private static final Xxh3 CHAIN = new Xxh3(CHAIN_SEED);

  public LineageHash {
    int mode = (int) (high >>> 62);
    int position = mode > 2 ? -1 : (int) (high << 2 >>> 2 >>> parentBits(mode));
    boolean orphan = position == 0 && low << (Long.SIZE - parentBits(mode)) != 0;
    if (position < 0 || mode != modeOf(position) || orphan) {
      throw new IllegalArgumentException("no lineage hash: %016x%016x".formatted(high, low));
    }
  }

  /** The first block of a sequence, whose hash is also that of the sequence so far. */
  public static LineageHash root(long blockHash) {
    return of(0, blockHash, 0);
  }

  /** A block with the sequence hashes up to its end and up to its parent's, which is 0 at first. */
  public static LineageHash of(int position, long current, long parent) {
    if (position < 0 || position >= BLOCKS_MAX) {
      throw new IllegalArgumentException("position " + position + " not below " + BLOCKS_MAX);
    }
    int mode = modeOf(position);
    int parentBits = parentBits(mode);
    long fragment = parent & (1L << parentBits) - 1;
    return new LineageHash(
        (long) mode << 62 | (long) position << parentBits | current >>> (Long.SIZE - parentBits),
        current << parentBits | fragment);
  }

  /** The hash that these sixteen bytes, most significant first, stand for. */
  public static LineageHash of(byte[] bytes) {
    if (bytes.length != BYTES) throw new IllegalArgumentException(bytes.length + " bytes");
    var buffer = ByteBuffer.wrap(bytes);
    return new LineageHash(buffer.getLong(), buffer.getLong());
  }

  /** The hash inside a block hash that {@link #blockHash} made. */
  public static LineageHash of(BlockHash hash) {
    if ((hash.third() | hash.fourth()) != 0) {
      throw new IllegalArgumentException("no lineage hash: " + hash);
    }
    return new LineageHash(hash.first(), hash.second());
  }

  /** Reads what {@link #toString} writes. */
  public static LineageHash parse(String text) {
    var parts = text.split(":", -1);
    if (parts.length < 2) throw new IllegalArgumentException("no lineage hash: \"" + text + "\"");
    long parent = parts.length == 2 ? 0 : Base58.decode(parts[2]);
    var hash = of(Integer.parseInt(parts[0]), Base58.decode(parts[1]), parent);
    if (!hash.toString().equals(text)) {
      throw new IllegalArgumentException("no lineage hash: \"" + text + "\"");
    }
    return hash;
  }

  /** The block after this one, given the hash of its own tokens. */
  public LineageHash extend(long childBlockHash) {
    return of(position() + 1, CHAIN.hash(current(), childBlockHash), current());
  }

  /** Which of the three layouts holds the position. */
  public int mode() {
    return (int) (high >>> 62);
  }

  /** How many blocks come before this one. */
  public int position() {
    return (int) (high << 2 >>> 2 >>> parentBits(mode()));
  }

  /** The hash of the sequence up to the end of this block. */
  public long current() {
    int parentBits = parentBits(mode());
    return high << (Long.SIZE - parentBits) | low >>> parentBits;
  }

  /** As many low bits of the parent's current hash as the layout has room for. */
  public long parentFragment() {
    return low & (1L << parentBits(mode())) - 1;
  }

  /** Sixteen bytes, most significant first. */
  public byte[] bytes() {
    return ByteBuffer.allocate(BYTES).putLong(high).putLong(low).array();
  }

  /** This hash in the first two words of a block hash, zeros behind. */
  public BlockHash blockHash() {
    return new BlockHash(high, low, 0, 0);
  }

  @Override
  public int compareTo(LineageHash other) {
    int order = Integer.compare(position(), other.position());
    if (order == 0) order = Long.compareUnsigned(current(), other.current());
    if (order == 0) order = Long.compareUnsigned(high, other.high);
    if (order == 0) order = Long.compareUnsigned(low, other.low);
    return order;
  }

  /** Position and current hash and, but for a first block, the parent's bits; both in base 58. */
  @Override
  public String toString() {
    var text = position() + ":" + Base58.encode(current());
    return position() == 0 ? text : text + ":" + Base58.encode(parentFragment());
  }

  private static int modeOf(int position) {
    if (position < 1 << 8) return 0;
    return position < 1 << 16 ? 1 : 2;
  }

  private static int parentBits(int mode) {
    return 54 - 8 * mode;
  }
}
