package dev.kvasir.tiers.disk;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.kvasir.Nullable;
import dev.kvasir.tiers.host.BlockHeader.Hashes;
import dev.kvasir.tiers.host.BlockSpan;
import dev.kvasir.tiers.host.DiskFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * The file of the index: a page that says what it is, then records, one behind the other.
 *
 * <p>A log is never made shorter and then longer again: a new one, with a serial of its own in each
 * record, takes its place. What is left of a failed or torn write is thus never read as a record.
 */
final class IndexLog implements AutoCloseable {
  static final String NAME = "index.log";
  static final String NAME_NEW = "index.new";

  private static final long MAGIC = 0x5845_4449_5249_564bL; // "KVIRIDEX"
  private static final int VERSION_AT = 8;
  private static final int BLOCK_BYTES_AT = 12;
  private static final int LAYOUT_AT = 16;
  private static final int SERIAL_AT = 24;
  private static final int SUM_AT = 32;
  private static final int NOTE_SUM_AT = 64;
  private static final int NOTE_LENGTH_AT = 68;
  private static final int NOTE_AT = 72;
  private static final int RECORDS_AT = BlockSpan.PAGE_BYTES;
  private static final int CHUNK_BYTES = 1024 * IndexRecord.BYTES;

  private final BlockFile file;
  private final long serial;
  private final ByteBuffer one = buffer(IndexRecord.BYTES);
  private long end = RECORDS_AT;

  private IndexLog(BlockFile file, long serial) {
    this.file = file;
    this.serial = serial;
  }

  long serial() {
    return serial;
  }

  long bytes() {
    return end;
  }

  /** Returns the size of a log of that many records. */
  static long bytes(long records) {
    return RECORDS_AT + records * IndexRecord.BYTES;
  }

  /** Writes a log of the records beside the present one and syncs it; it is not in place yet. */
  static IndexLog write(
      DiskFolder folder, DiskFormat format, long serial, String note, Iterator<IndexRecord> records)
      throws IOException {
    var log = new IndexLog(folder.open(NAME_NEW, FileAccess.BUFFERED), serial);
    try {
      log.file.truncate(0);
      log.file.write(0, header(format, serial, note));
      var chunk = buffer(CHUNK_BYTES);
      while (records.hasNext()) {
        chunk.clear();
        while (records.hasNext() && chunk.hasRemaining()) records.next().write(chunk, serial);
        log.append(chunk.flip());
      }
      log.file.sync();
      return log;
    } catch (IOException e) {
      log.close();
      throw e;
    }
  }

  /** Content of the first page of a log besides its format. */
  record Head(long serial, String note) {}

  /** Hands each record of the log in the folder on, and returns what its first page says. */
  static Head replay(DiskFolder folder, DiskFormat format, Consumer<IndexRecord> records)
      throws IOException {
    try (var file = folder.open(NAME, FileAccess.BUFFERED)) {
      var header = buffer(BlockSpan.PAGE_BYTES);
      file.read(0, header);
      var obstacle = obstacle(header.flip(), format);
      if (obstacle != null) throw new IOException(obstacle);
      long serial = header.getLong(SERIAL_AT);
      var note = note(header);
      var chunk = buffer(CHUNK_BYTES);
      long end = RECORDS_AT;
      do {
        file.read(end, chunk.clear());
        end += chunk.position();
      } while (handOn(chunk.flip(), serial, records) && chunk.limit() == CHUNK_BYTES);
      return new Head(serial, note);
    }
  }

  /** Hands the records of the chunk on; returns whether all of it was records. */
  private static boolean handOn(ByteBuffer chunk, long serial, Consumer<IndexRecord> records) {
    while (chunk.remaining() >= IndexRecord.BYTES) {
      @Nullable IndexRecord next = IndexRecord.read(chunk, serial);
      if (next == null) return false;
      records.accept(next);
    }
    return true;
  }

  /** Adds a record; if that fails, the next one takes its place. */
  void append(IndexRecord next) throws IOException {
    next.write(one.clear(), serial);
    append(one.flip());
  }

  private void append(ByteBuffer records) throws IOException {
    int bytes = records.remaining();
    file.write(end, records);
    end += bytes;
  }

  void sync() throws IOException {
    file.sync();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }

  /** The longest note that a log has room for. */
  static final int NOTE_BYTES_MAX = 256;

  private static ByteBuffer header(DiskFormat format, long serial, String note) {
    var header = buffer(BlockSpan.PAGE_BYTES);
    header.putLong(0, MAGIC);
    header.putInt(VERSION_AT, DiskFormat.VERSION);
    header.putInt(BLOCK_BYTES_AT, format.blockBytes());
    header.putLong(LAYOUT_AT, format.layout());
    header.putLong(SERIAL_AT, serial);
    header.putInt(SUM_AT, Hashes.sum(header, 0, SUM_AT));
    byte[] text = note.getBytes(US_ASCII);
    if (text.length > NOTE_BYTES_MAX) {
      throw new IllegalArgumentException("a note of " + text.length + " bytes: " + note);
    }
    header.putInt(NOTE_LENGTH_AT, text.length);
    header.put(NOTE_AT, text);
    header.putInt(NOTE_SUM_AT, Hashes.sum(header, NOTE_LENGTH_AT, noteSpan(text.length)));
    return header;
  }

  private static int noteSpan(int textBytes) {
    return NOTE_AT - NOTE_LENGTH_AT + textBytes;
  }

  /** The note of the first page; none if it has none, or a damaged one. */
  private static String note(ByteBuffer header) {
    int length = header.getInt(NOTE_LENGTH_AT);
    if (length < 1 || length > NOTE_BYTES_MAX) return "";
    if (header.getInt(NOTE_SUM_AT) != Hashes.sum(header, NOTE_LENGTH_AT, noteSpan(length))) {
      return "";
    }
    byte[] text = new byte[length];
    header.get(NOTE_AT, text);
    return new String(text, US_ASCII);
  }

  /** Returns why the log in the folder cannot be read, though it is one of ours; null if it can. */
  static @Nullable String obstacle(DiskFolder folder, DiskFormat format) throws IOException {
    try (var file = folder.open(NAME, FileAccess.BUFFERED)) {
      var header = buffer(BlockSpan.PAGE_BYTES);
      file.read(0, header);
      return obstacle(header.flip(), format);
    }
  }

  /** Throws if the log in the folder cannot be read, or is none of ours; one need not be there. */
  static void requireReadable(DiskFolder folder, DiskFormat format) throws IOException {
    if (!folder.names().contains(NAME)) return;
    var obstacle = obstacle(folder, format);
    if (obstacle != null) throw new IOException(obstacle);
  }

  private static @Nullable String obstacle(ByteBuffer header, DiskFormat format)
      throws IOException {
    if (header.limit() < BlockSpan.PAGE_BYTES || header.getLong(0) != MAGIC) {
      throw new IOException(
          NAME + " is not an index of Kvasir: name another folder, or delete this one");
    }
    int version = header.getInt(VERSION_AT);
    if (version != DiskFormat.VERSION) {
      return NAME + " has format version " + version + ", not " + DiskFormat.VERSION;
    }
    if (header.getInt(SUM_AT) != Hashes.sum(header, 0, SUM_AT)) {
      return NAME + " is damaged in its first page";
    }
    var there = new DiskFormat(header.getInt(BLOCK_BYTES_AT), header.getLong(LAYOUT_AT));
    if (there.equals(format)) return null;
    return String.format(
        Locale.ROOT,
        "the blocks there have %,d bytes and layout %x, not %,d bytes and layout %x",
        there.blockBytes(),
        there.layout(),
        format.blockBytes(),
        format.layout());
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(LITTLE_ENDIAN);
  }
}
