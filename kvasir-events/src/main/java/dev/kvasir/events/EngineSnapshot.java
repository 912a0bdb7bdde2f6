package dev.kvasir.events;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockHasher;
import dev.kvasir.kv.name.Sha256Hasher;
import dev.kvasir.router.index.BlockUnits;
import dev.kvasir.router.index.KvFeed;
import dev.kvasir.router.index.UnitImage;
import dev.kvasir.router.index.UnitImage.Saved;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Knowledge that one listener has of an engine, for another one that begins to listen.
 *
 * <p>As bytes: the position, the groups of layers, the hashers of all prompts, and the blocks.
 *
 * @param position up to which batch of the engine's events it holds
 */
public record EngineSnapshot(KvFeed.Position position, UnitImage<EngineHash> image) {
  /** Beyond which an engine's oldest blocks are left out; taking more would hold up requests. */
  public static final int BLOCKS_MAX = 1 << 18;

  private static final int HASHERS_MAX = 1 << 16;
  private static final int GROUPS_MAX = 16;
  private static final int WORD = 0;

  /** Returns how many blocks it has. */
  public int blocks() {
    return image.blocks().size();
  }

  /**
   * The snapshot as bytes.
   *
   * @param bytesMax beyond which the blocks that were not heard of for longest are left out
   */
  public byte[] encode(int bytesMax) {
    try {
      var rows = new ByteArrayOutputStream();
      var hashers = new LinkedHashMap<BlockHasher, Integer>();
      int count = rows(rows, hashers, bytesMax);
      var bytes = new ByteArrayOutputStream(rows.size() + (64 << 10));
      var out = new DataOutputStream(bytes);
      write(out, position);
      out.writeInt(image.grain());
      out.writeByte(image.groups().size());
      for (var group : image.groups()) {
        out.writeInt(group.index());
        out.writeInt(group.windowTokens());
      }
      out.writeInt(hashers.size());
      for (var hasher : hashers.keySet()) {
        out.writeUTF(hasher.model());
        out.writeUTF(hasher.salt());
      }
      out.writeInt(count);
      rows.writeTo(out);
      return bytes.toByteArray();
    } catch (IOException e) {
      throw new IllegalStateException("a name of more than 64 KiB", e);
    }
  }

  private int rows(ByteArrayOutputStream rows, Map<BlockHasher, Integer> hashers, int bytesMax)
      throws IOException {
    var out = new DataOutputStream(rows);
    int count = 0;
    for (var block : image.blocks()) {
      if (rows.size() >= bytesMax || hashers.size() == HASHERS_MAX) break;
      var known = hashers.putIfAbsent(block.hasher(), hashers.size());
      write(out, block, known == null ? hashers.size() - 1 : known);
      count++;
    }
    return count;
  }

  private static void write(DataOutputStream out, KvFeed.Position position) throws IOException {
    out.writeLong(position.next());
    out.writeLong(position.lastStamp());
    out.writeLong(position.bornSequence());
    out.writeLong(position.bornStamp());
    out.writeLong(position.formerStamp());
    out.writeLong(position.stampedFrom());
    for (long stamp : position.firstStamps()) out.writeLong(stamp);
    for (long stamp : position.lastStamps()) out.writeLong(stamp);
  }

  private static void write(DataOutputStream out, Saved<EngineHash> block, int hasher)
      throws IOException {
    switch (block.key()) {
      case EngineHash.Word(long bits) -> {
        out.writeByte(WORD);
        out.writeLong(bits);
      }
      case EngineHash.Digest digest -> {
        out.writeByte(digest.bytes());
        out.write(digest.digest());
      }
    }
    out.writeInt(block.parent());
    out.writeInt(hasher);
    out.writeInt(block.length());
    out.writeInt(block.end());
    out.writeBoolean(block.before() != null);
    if (block.before() != null) out.write(block.before().bytes());
    out.writeShort(block.units().length);
    for (var unit : block.units()) out.write(unit.bytes());
    out.writeShort(block.tail().length);
    for (int token : block.tail()) out.writeInt(token);
    out.writeByte(block.tiers().length);
    for (int slot = 0; slot < block.tiers().length; slot++) {
      out.writeByte(block.tiers()[slot]);
      out.writeInt(block.copies()[slot]);
    }
  }

  /**
   * Reads what {@link #encode} wrote.
   *
   * @throws IllegalArgumentException for anything else
   */
  public static EngineSnapshot decode(byte[] bytes) {
    try {
      var in = new DataInputStream(new ByteArrayInputStream(bytes));
      var position = position(in);
      int grain = in.readInt();
      var groups = new ArrayList<BlockUnits.Group>();
      for (int left = count(in.readUnsignedByte(), GROUPS_MAX); left > 0; left--) {
        groups.add(new BlockUnits.Group(in.readInt(), in.readInt()));
      }
      var hashers = new ArrayList<BlockHasher>();
      for (int left = count(in.readInt(), HASHERS_MAX); left > 0; left--) {
        hashers.add(new Sha256Hasher(in.readUTF(), in.readUTF()));
      }
      int total = count(in.readInt(), BLOCKS_MAX);
      var blocks = new ArrayList<Saved<EngineHash>>();
      for (int i = 0; i < total; i++) blocks.add(block(in, hashers, total));
      if (in.read() >= 0) throw new IllegalArgumentException("bytes behind the last block");
      return new EngineSnapshot(position, new UnitImage<>(groups, grain, blocks));
    } catch (IOException e) {
      throw new IllegalArgumentException("the snapshot ends early", e);
    }
  }

  private static int count(int reported, int max) {
    if (reported >= 0 && reported <= max) return reported;
    throw new IllegalArgumentException(reported + " of at most " + max);
  }

  private static KvFeed.Position position(DataInputStream in) throws IOException {
    return new KvFeed.Position(
        in.readLong(),
        in.readLong(),
        in.readLong(),
        in.readLong(),
        in.readLong(),
        in.readLong(),
        stamps(in),
        stamps(in));
  }

  private static long[] stamps(DataInputStream in) throws IOException {
    var stamps = new long[KvFeed.Position.STAMPS];
    for (int i = 0; i < stamps.length; i++) stamps[i] = in.readLong();
    return stamps;
  }

  private static Saved<EngineHash> block(DataInputStream in, List<BlockHasher> hashers, int total)
      throws IOException {
    var key = key(in);
    // The oldest may have been left out, with those behind them still there.
    int parent = in.readInt();
    var hasher = hashers.get(count(in.readInt(), hashers.size() - 1));
    int length = in.readInt();
    int end = in.readInt();
    @Nullable BlockHash before = in.readBoolean() ? hash(in) : null;
    var units = new BlockHash[in.readUnsignedShort()];
    for (int i = 0; i < units.length; i++) units[i] = hash(in);
    var tail = new int[in.readUnsignedShort()];
    for (int i = 0; i < tail.length; i++) tail[i] = in.readInt();
    int slots = count(in.readUnsignedByte(), GROUPS_MAX);
    var tiers = new byte[slots];
    var copies = new int[slots];
    for (int slot = 0; slot < slots; slot++) {
      tiers[slot] = in.readByte();
      copies[slot] = in.readInt();
    }
    return new Saved<>(
        key,
        parent < total ? parent : Saved.NO_PARENT,
        hasher,
        length,
        end,
        before,
        units,
        tail,
        tiers,
        copies);
  }

  private static EngineHash key(DataInputStream in) throws IOException {
    int bytes = in.readUnsignedByte();
    if (bytes == WORD) return new EngineHash.Word(in.readLong());
    var digest = new byte[count(bytes, EngineHash.Digest.BYTES_MAX)];
    in.readFully(digest);
    return EngineHash.Digest.of(digest);
  }

  private static BlockHash hash(DataInputStream in) throws IOException {
    return new BlockHash(in.readLong(), in.readLong(), in.readLong(), in.readLong());
  }
}
