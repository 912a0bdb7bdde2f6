package dev.kvasir.kv.name;

import dev.kvasir.Nullable;
import java.security.DigestException;
import java.security.MessageDigest;
import java.util.List;
import java.util.Objects;

/**
 * Hashes blocks by SHA-256, so that nobody can craft two contents with one hash. Use this hasher
 * unless hashes must match those of KVBM.
 *
 * <p>What is hashed, with {@code int} for four bytes, least significant first, and {@code text} for
 * an int that counts the bytes of its UTF-8 followed by these bytes:
 *
 * <pre>
 * namespace = SHA-256(text "kvasir.block.v1", text model, text salt)
 * block     = SHA-256(byte 1, parent, int tokens, each token as int, int runs, each run)
 * parent    = the 32 bytes of the block before, or of the namespace for a first block
 * run       = int start, int count, int skipped, text content
 * </pre>
 *
 * <p>Runs are the {@linkplain ExtraKey extra keys} that touch the block: {@code count} tokens from
 * index {@code start} of the block on are tokens of the run, {@code skipped} ones of it lie in
 * earlier blocks. The rest of a run after the block is not hashed, so a hash never depends on what
 * follows. The first byte tells a namespace (15) from a block (1), and every part is either of
 * fixed size or counted, so no two contents write the same bytes.
 *
 * <p>Belongs to one loop, since the digest and its buffer are reused.
 */
public final class Sha256Hasher implements BlockHasher {
  private static final String DOMAIN = "kvasir.block.v1";
  private static final byte BLOCK = 1;
  private static final int HEAD_BYTES = 1 + BlockHash.BYTES;

  /** Made for the first block: many hashers are made for blocks whose hashes are known. */
  private @Nullable MessageDigest digest;

  private @Nullable BlockHash namespace;
  private final String model;
  private final String salt;
  private final byte[] result = new byte[BlockHash.BYTES];
  private byte[] message = new byte[512];

  /**
   * A hasher for the blocks of one model and one tenant.
   *
   * @param model the fingerprint of everything that shapes K and V: weights, adapter, data type
   * @param salt what only this tenant's blocks are mixed with; empty where all may share
   */
  public Sha256Hasher(String model, String salt) {
    if (model.isEmpty()) throw new IllegalArgumentException("empty model fingerprint");
    Utf8.require(model);
    Utf8.require(salt);
    this.model = model;
    this.salt = salt;
  }

  private BlockHash namespace() {
    if (namespace != null) return namespace;
    hashText(DOMAIN);
    hashText(model);
    hashText(salt);
    namespace = finish();
    return namespace;
  }

  private MessageDigest digest() {
    if (digest == null) digest = Sha256.digest();
    return digest;
  }

  @Override
  public String model() {
    return model;
  }

  @Override
  public String salt() {
    return salt;
  }

  @Override
  public BlockHash hash(
      @Nullable BlockHash parent, int[] tokens, int from, int to, List<ExtraKey> extraKeys) {
    Objects.checkFromToIndex(from, to, tokens.length);
    if (from == to || to - from > BLOCK_TOKENS_MAX) {
      throw new IllegalArgumentException("block of " + (to - from) + " tokens");
    }
    ExtraKey.requireSorted(extraKeys);
    int runs = 0;
    for (var key : extraKeys) if (key.overlaps(from, to)) runs++;

    int size = HEAD_BYTES + (to - from + 2) * Integer.BYTES;
    if (message.length < size) message = new byte[size];
    var before = parent == null ? namespace() : parent;
    message[0] = BLOCK;
    before.write(message, 1);
    int at = LittleEndian.writeInt(message, HEAD_BYTES, to - from);
    at = LittleEndian.writeTokens(message, at, tokens, from, to);
    at = LittleEndian.writeInt(message, at, runs);
    digest().update(message, 0, at);
    if (runs > 0) hashRuns(from, to, extraKeys);
    return finish();
  }

  private void hashRuns(int from, int to, List<ExtraKey> extraKeys) {
    for (var key : extraKeys) {
      if (!key.overlaps(from, to)) continue;
      int start = Math.max(from, key.offset());
      hashInt(start - from);
      hashInt(Math.min(to, key.end()) - start);
      hashInt(start - key.offset());
      hashText(key.content());
    }
  }

  private void hashInt(int value) {
    LittleEndian.writeInt(message, 0, value);
    digest().update(message, 0, Integer.BYTES);
  }

  private void hashText(String text) {
    var bytes = Utf8.bytes(text);
    hashInt(bytes.length);
    digest().update(bytes);
  }

  private BlockHash finish() {
    try {
      digest().digest(result, 0, result.length);
    } catch (DigestException e) {
      throw new IllegalStateException("SHA-256 in " + result.length + " bytes", e);
    }
    return BlockHash.of(result);
  }
}
