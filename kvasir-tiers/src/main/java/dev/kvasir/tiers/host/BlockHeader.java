package dev.kvasir.tiers.host;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Content of the page beside a block's bytes: which block it is, where it belongs and the checksum
 * of its bytes.
 *
 * <p>The page sums itself up too, and holds the sum of the bytes, so the two cannot come from
 * different writes unnoticed. On disk it lies behind the bytes, see docs/disk-format.md; what is
 * sent to a shared tier has a shorter one before them, see docs/shared-tiers.md.
 */
public record BlockHeader(DiskFormat format, int slot, long generation, TokenBlock block) {
  static final long MAGIC = 0x4b4c_4252_4953_564bL; // "KVSIRBLK"

  private static final int VERSION_AT = 8;
  private static final int SLOT_AT = 12;
  private static final int GENERATION_AT = 16;
  private static final int LAYOUT_AT = 24;
  private static final int LENGTH_AT = 32;
  private static final int SUM_AT = 36;
  private static final int POSITION_AT = 40;
  private static final int TOKENS_AT = 44;
  private static final int KEY_AT = 48;
  private static final int PARENT_AT = KEY_AT + Hashes.BYTES;
  private static final int TOKEN_AT = PARENT_AT + Hashes.BYTES;

  /** Sums the bytes up and writes the page behind them. */
  public void seal(MemorySegment span) {
    seal(page(format, span), bytes(span));
  }

  /** Sums the bytes up and fills the page, however long that is. */
  public void seal(ByteBuffer page, ByteBuffer bytes) {
    page.order(LITTLE_ENDIAN);
    page.putLong(0, MAGIC);
    page.putInt(VERSION_AT, DiskFormat.VERSION);
    page.putInt(SLOT_AT, slot);
    page.putLong(GENERATION_AT, generation);
    page.putLong(LAYOUT_AT, format.layout());
    page.putInt(LENGTH_AT, format.blockBytes());
    page.putInt(SUM_AT, sumOfBytes(bytes));
    page.putInt(POSITION_AT, block.position());
    Hashes.put(page, KEY_AT, block.hash());
    Hashes.put(page, PARENT_AT, block.parent());
    int[] tokens = block.length() <= tokensMax(page) ? block.tokens() : new int[0];
    page.putInt(TOKENS_AT, tokens.length);
    page.position(TOKEN_AT);
    page.asIntBuffer().put(tokens);
    int end = TOKEN_AT + tokens.length * Integer.BYTES;
    page.put(end, new byte[sumAt(page) - end]);
    page.putInt(sumAt(page), sumOfPage(page));
  }

  /** Returns what keeps the span from being exactly this block, or null if nothing does. */
  public @Nullable String fault(MemorySegment span) {
    return fault(page(format, span), bytes(span));
  }

  /** Returns what keeps page and bytes from being exactly this block, or null if nothing does. */
  public @Nullable String fault(ByteBuffer page, ByteBuffer bytes) {
    page.order(LITTLE_ENDIAN);
    if (page.getLong(0) != MAGIC) return "there is no header";
    int version = page.getInt(VERSION_AT);
    if (version != DiskFormat.VERSION) return "the header is of format version " + version;
    if (page.getInt(sumAt(page)) != sumOfPage(page)) return "the header's checksum is wrong";
    if (page.getLong(LAYOUT_AT) != format.layout()) return "the bytes have another layout";
    int length = page.getInt(LENGTH_AT);
    if (length != format.blockBytes()) return "the block has " + length + " bytes";
    int written = page.getInt(SLOT_AT);
    if (written != slot) return "the block belongs in slot " + written;
    if (!Hashes.equal(page, KEY_AT, block.hash())) return "another block is there";
    long there = page.getLong(GENERATION_AT);
    if (there != generation) return "generation " + there + " is there, not " + generation;
    if (page.getInt(SUM_AT) != sumOfBytes(bytes)) return "the checksum of the bytes is wrong";
    return null;
  }

  /** The tokens that a span without fault knows; none where there were none or too many. */
  public static int[] tokens(DiskFormat format, MemorySegment span) {
    return tokens(page(format, span));
  }

  /** The tokens that a page without fault knows; none where there were none or too many. */
  public static int[] tokens(ByteBuffer page) {
    page.order(LITTLE_ENDIAN);
    int count = page.getInt(TOKENS_AT);
    if (count < 0 || count > tokensMax(page)) return new int[0];
    int[] tokens = new int[count];
    page.position(TOKEN_AT);
    page.asIntBuffer().get(tokens);
    return tokens;
  }

  private static int sumAt(ByteBuffer page) {
    return page.capacity() - Integer.BYTES;
  }

  private static int tokensMax(ByteBuffer page) {
    return (sumAt(page) - TOKEN_AT) / Integer.BYTES;
  }

  private static ByteBuffer page(DiskFormat format, MemorySegment span) {
    int at = new BlockSpan(format.blockBytes()).pageAt();
    return span.asSlice(at, BlockSpan.PAGE_BYTES).asByteBuffer();
  }

  private ByteBuffer bytes(MemorySegment span) {
    return span.asSlice(0, format.blockBytes()).asByteBuffer();
  }

  private static int sumOfBytes(ByteBuffer bytes) {
    return Hashes.sum(bytes, 0, bytes.capacity());
  }

  private static int sumOfPage(ByteBuffer page) {
    return Hashes.sum(page, 0, sumAt(page));
  }

  /** Hashes and sums in buffers. */
  public static final class Hashes {
    public static final int BYTES = 4 * Long.BYTES;

    private Hashes() {}

    /** Writes the hash, or zeros where there is none. */
    public static void put(ByteBuffer to, int at, @Nullable BlockHash hash) {
      to.put(at, hash == null ? new byte[BYTES] : hash.bytes());
    }

    public static BlockHash get(ByteBuffer from, int at) {
      var bytes = new byte[BYTES];
      from.get(at, bytes);
      return BlockHash.of(bytes);
    }

    static boolean equal(ByteBuffer from, int at, BlockHash hash) {
      var bytes = new byte[BYTES];
      from.get(at, bytes);
      return Arrays.equals(bytes, hash.bytes());
    }

    public static int sum(ByteBuffer of, int at, int length) {
      var sum = new CRC32C();
      sum.update(of.slice(at, length));
      return (int) sum.getValue();
    }
  }
}
