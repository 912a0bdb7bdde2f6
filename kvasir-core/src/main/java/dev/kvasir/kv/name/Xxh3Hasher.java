package dev.kvasir.kv.name;

import dev.kvasir.Nullable;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/**
 * Names blocks as KVBM does, for exchanging names with it: XXH3 of 64 bits under public seeds, so
 * collisions can be crafted; between tenants who do not trust each other use {@link Sha256Hasher}.
 *
 * <p>The salt hash is 1337, plus the hash of the adapter's name under seed 0, plus the hash of the
 * salt under seed 1, each only if not empty. The hash of a block is that of its tokens, four bytes
 * each, least significant first, seeded with the salt hash. The name is the {@link LineageHash}
 * these make, in the first two words of the {@link BlockHash} with zeros behind. The model is no
 * part of it.
 *
 * <p>A block that {@linkplain ExtraKey extra keys} touch is hashed as slots of 13 bytes instead: 0,
 * token, eight zero bytes; or, in place of a token of a run, 1, its index within the run, and the
 * 64-bit hash of the content. That hash is the content itself where it is exactly sixteen
 * hexadecimal digits, in either case, and XXH3 of its UTF-8 under seed 0 where it is anything else.
 *
 * <p>Belongs to one loop, since the buffer is reused.
 */
public final class Xxh3Hasher implements BlockHasher {
  private static final long SALT_START = 1337;
  private static final Xxh3 SEED_0 = new Xxh3(0);
  private static final Xxh3 SEED_1 = new Xxh3(1);

  private static final int SLOT_BYTES = 1 + Integer.BYTES + Long.BYTES;
  private static final byte TEXT = 0;
  private static final byte PLACEHOLDER = 1;

  private final Xxh3 blocks;
  private final String salt;
  private byte[] message = new byte[512];

  /**
   * A hasher for the blocks of one adapter and one tenant.
   *
   * @param lora the name of the adapter; empty for the model as it is
   * @param salt what only this tenant's blocks are mixed with; empty where all may share
   */
  public Xxh3Hasher(String lora, String salt) {
    long seed = SALT_START;
    if (!lora.isEmpty()) seed += SEED_0.hash(Utf8.bytes(lora));
    if (!salt.isEmpty()) seed += SEED_1.hash(Utf8.bytes(salt));
    this.blocks = new Xxh3(seed);
    this.salt = salt;
  }

  @Override
  public String salt() {
    return salt;
  }

  @Override
  public BlockHash hash(
      @Nullable BlockHash parent, int[] tokens, int from, int to, List<ExtraKey> extraKeys) {
    long own = blockHash(tokens, from, to, extraKeys);
    var name = parent == null ? LineageHash.root(own) : LineageHash.of(parent).extend(own);
    return name.blockHash();
  }

  /** The hash of a block's own tokens, whatever comes before them. */
  long blockHash(int[] tokens, int from, int to, List<ExtraKey> extraKeys) {
    Objects.checkFromToIndex(from, to, tokens.length);
    if (from == to || to - from > BLOCK_TOKENS_MAX) {
      throw new IllegalArgumentException("block of " + (to - from) + " tokens");
    }
    ExtraKey.requireSorted(extraKeys);
    for (var key : extraKeys) {
      if (key.overlaps(from, to)) return slotted(tokens, from, to, extraKeys);
    }
    reserve((to - from) * Integer.BYTES);
    int size = LittleEndian.writeTokens(message, 0, tokens, from, to);
    return blocks.hash(message, 0, size);
  }

  private long slotted(int[] tokens, int from, int to, List<ExtraKey> extraKeys) {
    int size = (to - from) * SLOT_BYTES;
    reserve(size);
    for (int index = from; index < to; index++) {
      slot(index - from, TEXT, tokens[index], 0);
    }
    for (var key : extraKeys) {
      if (!key.overlaps(from, to)) continue;
      long content = contentHash(key.content());
      int end = Math.min(to, key.end());
      for (int index = Math.max(from, key.offset()); index < end; index++) {
        slot(index - from, PLACEHOLDER, index - key.offset(), content);
      }
    }
    return blocks.hash(message, 0, size);
  }

  private void slot(int slot, byte tag, int value, long content) {
    int at = slot * SLOT_BYTES;
    message[at] = tag;
    at = LittleEndian.writeInt(message, at + 1, value);
    LittleEndian.writeLong(message, at, content);
  }

  private static long contentHash(String content) {
    boolean number = content.length() == 2 * Long.BYTES;
    number = number && content.chars().allMatch(HexFormat::isHexDigit);
    return number ? HexFormat.fromHexDigitsToLong(content) : SEED_0.hash(Utf8.bytes(content));
  }

  private void reserve(int size) {
    if (message.length < size) message = new byte[size];
  }
}
