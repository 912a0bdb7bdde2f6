package dev.kvasir.tiers.disk;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.tiers.host.BlockHeader.Hashes;
import java.nio.ByteBuffer;

/**
 * One line of the index: the slot holds the block since that generation, or no longer does.
 *
 * <p>Of all that is said about a slot the highest generation counts, and of one generation that it
 * is gone; so the order in which records are read does not matter.
 */
record IndexRecord(Kind kind, int slot, long generation, TokenBlock block) {
  static final int BYTES = 96;

  private static final int KIND_AT = 4;
  private static final int SERIAL_AT = 8;
  private static final int GENERATION_AT = 16;
  private static final int SLOT_AT = 24;
  private static final int POSITION_AT = 28;
  private static final int KEY_AT = 32;
  private static final int PARENT_AT = KEY_AT + Hashes.BYTES;

  /** Statement of the record about the slot. */
  enum Kind {
    HELD(0x444c4548),
    GONE(0x454e4f47);

    private final int mark;

    Kind(int mark) {
      this.mark = mark;
    }
  }

  /** Writes the record for the log of that serial at the buffer's position, and moves that on. */
  void write(ByteBuffer to, long serial) {
    int at = to.position();
    to.putInt(at + KIND_AT, kind.mark);
    to.putLong(at + SERIAL_AT, serial);
    to.putLong(at + GENERATION_AT, generation);
    to.putInt(at + SLOT_AT, slot);
    to.putInt(at + POSITION_AT, block.position());
    Hashes.put(to, at + KEY_AT, block.hash());
    Hashes.put(to, at + PARENT_AT, block.parent());
    to.putInt(at, Hashes.sum(to, at + KIND_AT, BYTES - KIND_AT));
    to.position(at + BYTES);
  }

  /** The record at the buffer's position, which moves on; null if the log ends before it. */
  static @Nullable IndexRecord read(ByteBuffer from, long serial) {
    int at = from.position();
    if (from.getInt(at) != Hashes.sum(from, at + KIND_AT, BYTES - KIND_AT)) return null;
    if (from.getLong(at + SERIAL_AT) != serial) return null;
    int mark = from.getInt(at + KIND_AT);
    int position = from.getInt(at + POSITION_AT);
    for (var kind : Kind.values()) {
      if (kind.mark != mark) continue;
      var parent = position == 0 ? null : Hashes.get(from, at + PARENT_AT);
      var block = TokenBlock.named(Hashes.get(from, at + KEY_AT), parent, position);
      from.position(at + BYTES);
      return new IndexRecord(
          kind, from.getInt(at + SLOT_AT), from.getLong(at + GENERATION_AT), block);
    }
    return null;
  }
}
