package dev.kvasir.kv.name;

import static dev.kvasir.kv.name.LittleEndian.readInt;
import static dev.kvasir.kv.name.LittleEndian.readLong;

import java.util.HexFormat;
import java.util.Objects;

/**
 * XXH3 of 64 bits under one seed, as xxHash 0.8 specifies it. Fast and well spread, but no defence
 * against somebody who looks for collisions.
 *
 * <p>Immutable: what a seed makes of the secret is worked out once and serves every hash.
 */
final class Xxh3 {
  private static final long PRIME32_1 = 0x9E3779B1L;
  private static final long PRIME32_2 = 0x85EBCA77L;
  private static final long PRIME32_3 = 0xC2B2AE3DL;
  private static final long PRIME64_1 = 0x9E3779B185EBCA87L;
  private static final long PRIME64_2 = 0xC2B2AE3D27D4EB4FL;
  private static final long PRIME64_3 = 0x165667B19E3779F9L;
  private static final long PRIME64_4 = 0x85EBCA77C2B2AE63L;
  private static final long PRIME64_5 = 0x27D4EB2F165667C5L;
  private static final long AVALANCHE_PRIME = 0x165667919E3779F9L;
  private static final long SHORT_PRIME = 0x9FB21C651E98DF25L;

  private static final int LANES = 8;
  private static final int STRIPE_BYTES = LANES * Long.BYTES;
  private static final int STRIPES_PER_ROUND = 16;
  private static final int ROUND_BYTES = STRIPES_PER_ROUND * STRIPE_BYTES;

  /** The constant bytes every hash is mixed with. */
  private static final byte[] SECRET =
      HexFormat.of()
          .parseHex(
              "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
                  + "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
                  + "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
                  + "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
                  + "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
                  + "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e");

  private final long seed;

  /** The secret for inputs beyond 240 bytes. */
  private final byte[] seededSecret;

  Xxh3(long seed) {
    this.seed = seed;
    this.seededSecret = seeded(seed);
  }

  private static byte[] seeded(long seed) {
    var secret = new byte[SECRET.length];
    for (int at = 0; at < secret.length; at += 2 * Long.BYTES) {
      int next = LittleEndian.writeLong(secret, at, readLong(SECRET, at) + seed);
      LittleEndian.writeLong(secret, next, readLong(SECRET, next) - seed);
    }
    return secret;
  }

  long hash(byte[] bytes) {
    return hash(bytes, 0, bytes.length);
  }

  long hash(byte[] bytes, int from, int to) {
    Objects.checkFromToIndex(from, to, bytes.length);
    int length = to - from;
    if (length > 240) return upToAny(bytes, from, length);
    if (length > 128) return upTo240(bytes, from, length);
    if (length > 16) return upTo128(bytes, from, length);
    if (length > 8) return upTo16(readLong(bytes, from), readLong(bytes, to - 8), length);
    if (length >= 4) return upTo8(readInt(bytes, from), readInt(bytes, to - 4), length);
    if (length > 0) return upTo3(bytes, from, length);
    return mixAfterOldFashion(seed ^ readLong(SECRET, 56) ^ readLong(SECRET, 64));
  }

  /** The hash of the sixteen bytes of two numbers, least significant bytes first. */
  long hash(long first, long second) {
    return upTo16(first, second, 2 * Long.BYTES);
  }

  private long upTo3(byte[] bytes, int from, int length) {
    int first = Byte.toUnsignedInt(bytes[from]);
    int middle = Byte.toUnsignedInt(bytes[from + length / 2]);
    int last = Byte.toUnsignedInt(bytes[from + length - 1]);
    int packed = middle << 24 | first << 16 | length << 8 | last;
    long key = Integer.toUnsignedLong(readInt(SECRET, 0) ^ readInt(SECRET, 4)) + seed;
    return mixAfterOldFashion(Integer.toUnsignedLong(packed) ^ key);
  }

  private long upTo8(int head, int tail, int length) {
    long spreadSeed = seed ^ (long) Integer.reverseBytes((int) seed) << 32;
    long key = (readLong(SECRET, 8) ^ readLong(SECRET, 16)) - spreadSeed;
    long hash = (((long) head << 32) + Integer.toUnsignedLong(tail)) ^ key;
    hash ^= Long.rotateLeft(hash, 49) ^ Long.rotateLeft(hash, 24);
    hash *= SHORT_PRIME;
    hash ^= (hash >>> 35) + length;
    hash *= SHORT_PRIME;
    return hash ^ hash >>> 28;
  }

  private long upTo16(long head, long tail, int length) {
    long low = head ^ ((readLong(SECRET, 24) ^ readLong(SECRET, 32)) + seed);
    long high = tail ^ ((readLong(SECRET, 40) ^ readLong(SECRET, 48)) - seed);
    return avalanche(length + Long.reverseBytes(low) + high + foldedProduct(low, high));
  }

  /** Mixes pieces of sixteen bytes from both ends inward. */
  private long upTo128(byte[] bytes, int from, int length) {
    long sum = length * PRIME64_1;
    int to = from + length;
    for (int piece = (length - 1) / 32; piece >= 0; piece--) {
      sum += mixed(bytes, from + 16 * piece, 32 * piece);
      sum += mixed(bytes, to - 16 * (piece + 1), 32 * piece + 16);
    }
    return avalanche(sum);
  }

  private long upTo240(byte[] bytes, int from, int length) {
    long sum = length * PRIME64_1;
    for (int piece = 0; piece < 8; piece++) {
      sum += mixed(bytes, from + 16 * piece, 16 * piece);
    }
    sum = avalanche(sum);
    for (int piece = 8; piece < length / 16; piece++) {
      sum += mixed(bytes, from + 16 * piece, 16 * (piece - 8) + 3);
    }
    return avalanche(sum + mixed(bytes, from + length - 16, 119));
  }

  private long mixed(byte[] bytes, int at, int secretAt) {
    return foldedProduct(
        readLong(bytes, at) ^ (readLong(SECRET, secretAt) + seed),
        readLong(bytes, at + 8) ^ (readLong(SECRET, secretAt + 8) - seed));
  }

  /** Any length beyond 240 bytes: eight lanes, scrambled after every sixteen stripes. */
  private long upToAny(byte[] bytes, int from, int length) {
    long[] lanes = {
      PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1
    };
    int rounds = (length - 1) / ROUND_BYTES;
    int at = from;
    for (int round = 0; round < rounds; round++) {
      accumulate(lanes, bytes, at, STRIPES_PER_ROUND);
      scramble(lanes);
      at += ROUND_BYTES;
    }
    int to = from + length;
    accumulate(lanes, bytes, at, (to - 1 - at) / STRIPE_BYTES);
    stripe(lanes, bytes, to - STRIPE_BYTES, SECRET.length - STRIPE_BYTES - 7);
    return merged(lanes, length);
  }

  private void accumulate(long[] lanes, byte[] bytes, int from, int stripes) {
    for (int stripe = 0; stripe < stripes; stripe++) {
      stripe(lanes, bytes, from + stripe * STRIPE_BYTES, stripe * Long.BYTES);
    }
  }

  private void stripe(long[] lanes, byte[] bytes, int at, int secretAt) {
    for (int lane = 0; lane < LANES; lane++) {
      long value = readLong(bytes, at + lane * Long.BYTES);
      long keyed = value ^ readLong(seededSecret, secretAt + lane * Long.BYTES);
      lanes[lane ^ 1] += value;
      lanes[lane] += (keyed & 0xFFFFFFFFL) * (keyed >>> 32);
    }
  }

  private void scramble(long[] lanes) {
    int secretAt = SECRET.length - STRIPE_BYTES;
    for (int lane = 0; lane < LANES; lane++) {
      long value = lanes[lane] ^ lanes[lane] >>> 47;
      lanes[lane] = (value ^ readLong(seededSecret, secretAt + lane * Long.BYTES)) * PRIME32_1;
    }
  }

  private long merged(long[] lanes, int length) {
    long sum = length * PRIME64_1;
    for (int lane = 0; lane < LANES; lane += 2) {
      int secretAt = 11 + lane * Long.BYTES;
      sum +=
          foldedProduct(
              lanes[lane] ^ readLong(seededSecret, secretAt),
              lanes[lane + 1] ^ readLong(seededSecret, secretAt + 8));
    }
    return avalanche(sum);
  }

  /** Both halves of the 128-bit product, one laid on the other. */
  private static long foldedProduct(long left, long right) {
    return Math.unsignedMultiplyHigh(left, right) ^ left * right;
  }

  private static long avalanche(long value) {
    long hash = (value ^ value >>> 37) * AVALANCHE_PRIME;
    return hash ^ hash >>> 32;
  }

  /** The last step of the older XXH64, which the shortest inputs still take. */
  private static long mixAfterOldFashion(long value) {
    long hash = (value ^ value >>> 33) * PRIME64_2;
    hash = (hash ^ hash >>> 29) * PRIME64_3;
    return hash ^ hash >>> 32;
  }
}
