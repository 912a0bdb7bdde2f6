package dev.kvasir.tierd.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Sha256;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Properties that blocks must have in common to stand in for each other: model, weights, data type,
 * layout, parallel sizes, block and chunk sizes. Engines with equal texts share blocks, others
 * never do.
 *
 * <p>The text is lines of {@code key=value}, ordered by key. Its SHA-256 is mixed into the name of
 * each block, so that a server which several namespaces store on keeps them apart too. The mixing
 * is its own inverse: who has the namespace finds the engine's hash again.
 */
public final class Namespace {
  static final int TEXT_BYTES_MAX = 16 << 10;

  /** A hash of 32 bytes, and the group of layers that the block is of. */
  static final int KEY_BYTES = 36;

  private static final String ROW_BYTES = "row-bytes";
  private static final String CHUNK_TOKENS = "chunk-tokens";
  private static final String WEIGHTS = "weights";
  private static final String STRONG = "strong:";
  private static final String ENGINE = "engine";
  private static final String KEYS = "keys";

  /** The word of an engine's package for keys that depend on all they must depend on. */
  private static final Map<String, String> KEYS_NOW = Map.of("vllm", "2", "sglang", "2");

  private static final int ID_DIGITS = 16;
  private static final int PADS_MAX = 1_024;

  private final String text;
  private final byte[] digest;
  private final SequencedMap<String, String> values;
  private final int rowBytes;
  private final int chunkTokens;
  private final Map<Integer, BlockHash> pads = new ConcurrentHashMap<>();

  private Namespace(String text, SequencedMap<String, String> values) {
    this.text = text;
    this.digest = Sha256.of(text.getBytes(UTF_8));
    this.values = values;
    this.rowBytes = positive(ROW_BYTES);
    this.chunkTokens = positive(CHUNK_TOKENS);
    if (value(WEIGHTS).isEmpty()) throw new IllegalArgumentException("no fingerprint: weights=");
  }

  /** Reads the text; an {@link IllegalArgumentException} says what is wrong with it. */
  public static Namespace parse(String text) {
    if (text.length() > TEXT_BYTES_MAX) {
      throw new IllegalArgumentException(
          "a namespace of " + text.length() + " bytes, expected at most " + TEXT_BYTES_MAX);
    }
    var values = new LinkedHashMap<String, String>();
    var last = "";
    for (var line : text.split("\n", -1)) {
      if (line.isEmpty()) continue;
      int equals = line.indexOf('=');
      if (equals < 1 || line.chars().anyMatch(Character::isISOControl)) {
        throw new IllegalArgumentException("namespace line '" + line + "', expected key=value");
      }
      var key = line.substring(0, equals);
      if (key.compareTo(last) <= 0) {
        throw new IllegalArgumentException(
            "namespace key '" + key + "' after '" + last + "', expected each once, in order");
      }
      values.put(key, line.substring(equals + 1));
      last = key;
    }
    return new Namespace(text, values);
  }

  private int positive(String key) {
    try {
      int number = Integer.parseInt(value(key));
      if (number > 0) return number;
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(key + "=" + value(key) + ", expected a number", e);
    }
    throw new IllegalArgumentException(key + "=" + value(key) + ", expected 1 or more");
  }

  /** Returns the value that was written for the key; empty for none. */
  public String value(String key) {
    return values.getOrDefault(key, "");
  }

  public String text() {
    return text;
  }

  public String model() {
    return value("model");
  }

  /** Returns how many bytes a chunk has. */
  public int rowBytes() {
    return rowBytes;
  }

  /** Returns how many tokens a chunk stands for. */
  public int chunkTokens() {
    return chunkTokens;
  }

  /**
   * Returns whether the fingerprint is of the weights themselves, not only of how they were made.
   */
  public boolean isStrong() {
    return value(WEIGHTS).startsWith(STRONG);
  }

  /** Returns whether it is of an earlier package, which left out some of what blocks depend on. */
  public boolean isOutdated() {
    var now = KEYS_NOW.get(value(ENGINE));
    return now != null && !now.equals(value(KEYS));
  }

  /** The first digits of its digest: a name for folders, metrics and people. */
  public String id() {
    return HexFormat.of().formatHex(digest).substring(0, ID_DIGITS);
  }

  public byte[] digest() {
    return digest.clone();
  }

  /** Tells stores of equal block sizes apart. */
  public long layout() {
    return ByteBuffer.wrap(digest).getLong();
  }

  /** The name of the block whose key is next in the buffer. */
  public BlockHash name(ByteBuffer keys) {
    var hash = new byte[KEY_BYTES - Integer.BYTES];
    keys.get(hash);
    return mixed(BlockHash.of(hash), keys.getInt());
  }

  /** The name of an engine's block, and the engine's hash of a name. */
  public BlockHash mixed(BlockHash hash, int group) {
    if (pads.size() >= PADS_MAX) pads.clear();
    var pad = pads.computeIfAbsent(group, this::pad);
    return new BlockHash(
        hash.first() ^ pad.first(),
        hash.second() ^ pad.second(),
        hash.third() ^ pad.third(),
        hash.fourth() ^ pad.fourth());
  }

  private BlockHash pad(int group) {
    var sha = Sha256.digest();
    sha.update(digest);
    sha.update(
        ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN).putInt(group).flip());
    return BlockHash.of(sha.digest());
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Namespace that && that.text.equals(text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  @Override
  public String toString() {
    return id() + " (" + model() + ")";
  }
}
