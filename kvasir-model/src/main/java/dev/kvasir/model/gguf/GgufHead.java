package dev.kvasir.model.gguf;

import dev.kvasir.text.UnsupportedText;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** Parses the head of a GGUF file, and trusts none of its numbers. */
final class GgufHead {
  private static final int MAGIC = 0x46554747;
  private static final int VERSION = 3;
  private static final int KEYS_MAX = 1 << 16;
  private static final int TENSORS_MAX = 1 << 16;
  private static final int NAME_BYTES_MAX = 1 << 10;
  private static final int TEXT_BYTES_MAX = 1 << 20;
  private static final int LIST_MAX = 1 << 20;
  private static final int DIMENSIONS_MAX = 4;
  private static final int ALIGNMENT_USUAL = 32;
  private static final int ALIGNMENT_MAX = 1 << 16;

  /** The shortest entry: an empty key, its type, one byte. */
  private static final int ENTRY_BYTES_MIN = 8 + 4 + 1;

  /** The shortest tensor: a name, one dimension, type and offset. */
  private static final int TENSOR_BYTES_MIN = 8 + 4 + 8 + 4 + 8;

  private final Path path;
  private final MemorySegment bytes;
  private final GgufCursor cursor;
  private final SequencedMap<String, Object> values = new LinkedHashMap<>();

  /** A tensor whose position in the file is not known yet. */
  private record Described(String name, TensorType type, List<Integer> dimensions, long offset) {}

  GgufHead(Path path, MemorySegment bytes) {
    this.path = path;
    this.bytes = bytes;
    this.cursor = new GgufCursor(path, bytes);
  }

  Metadata metadata() {
    return new Metadata(path, values);
  }

  /** Reads all of it; the tensors in the order of the file. */
  SequencedMap<String, Tensor> read() throws ModelFileException {
    if (cursor.nextInt("the magic number") != MAGIC) {
      throw new ModelFileException(
          path, "it is not a GGUF file", "name a model in the GGUF format (.gguf)");
    }
    int version = cursor.nextInt("the version");
    if (version != VERSION) {
      throw new ModelFileException(
          path,
          "it has GGUF version " + Integer.toUnsignedString(version),
          "convert it to version 3, little-endian");
    }
    int tensors = cursor.nextCount("the number of tensors", TENSOR_BYTES_MIN, TENSORS_MAX);
    int keys = cursor.nextCount("the number of metadata keys", ENTRY_BYTES_MIN, KEYS_MAX);
    for (int i = 0; i < keys; i++) readEntry();
    var described = new ArrayList<Described>();
    for (int i = 0; i < tensors; i++) described.add(readTensor());
    return placed(described);
  }

  private void readEntry() throws ModelFileException {
    var key = cursor.nextText("a metadata key", NAME_BYTES_MAX);
    var shown = UnsupportedText.shown(key);
    int type = cursor.nextInt("the type of " + shown);
    if (values.put(key, value(type, shown)) != null) {
      throw cursor.broken("the key " + shown + " stands twice");
    }
  }

  private Object value(int type, String key) throws ModelFileException {
    return switch (type) {
      case 6 -> (double) Float.intBitsToFloat(cursor.nextInt(key));
      case 12 -> Double.longBitsToDouble(cursor.nextLong(key));
      case 7 -> cursor.nextByte(key) != 0;
      case 8 -> cursor.nextText(key, TEXT_BYTES_MAX);
      case 9 -> list(key);
      default -> whole(type, key);
    };
  }

  private long whole(int type, String key) throws ModelFileException {
    return switch (type) {
      case 0 -> cursor.nextByte(key) & 0xffL;
      case 1 -> cursor.nextByte(key);
      case 2 -> cursor.nextShort(key) & 0xffffL;
      case 3 -> cursor.nextShort(key);
      case 4 -> cursor.nextInt(key) & 0xffff_ffffL;
      case 5 -> cursor.nextInt(key);
      case 10, 11 -> cursor.nextLong(key);
      default -> throw cursor.broken(key + " has the unknown type " + type);
    };
  }

  private Object list(String key) throws ModelFileException {
    int type = cursor.nextInt("the type of the list " + key);
    var length = "the length of the list " + key;
    return switch (type) {
      case 8 -> texts(key, cursor.nextCount(length, 8, LIST_MAX));
      case 6, 12 -> decimals(type, key, cursor.nextCount(length, 4, LIST_MAX));
      case 7 -> wholes(0, key, cursor.nextCount(length, 1, LIST_MAX));
      default -> wholes(type, key, cursor.nextCount(length, 1, LIST_MAX));
    };
  }

  private List<String> texts(String key, int count) throws ModelFileException {
    var texts = new ArrayList<String>();
    for (int i = 0; i < count; i++) texts.add(cursor.nextText("a text of " + key, NAME_BYTES_MAX));
    return List.copyOf(texts);
  }

  private double[] decimals(int type, String key, int count) throws ModelFileException {
    var numbers = new double[count];
    for (int i = 0; i < count; i++) numbers[i] = (Double) value(type, key);
    return numbers;
  }

  private long[] wholes(int type, String key, int count) throws ModelFileException {
    var numbers = new long[count];
    for (int i = 0; i < count; i++) numbers[i] = whole(type, key);
    return numbers;
  }

  private Described readTensor() throws ModelFileException {
    var name = cursor.nextText("the name of a tensor", NAME_BYTES_MAX);
    var shown = "tensor " + UnsupportedText.shown(name);
    int count = cursor.nextInt("the dimensions of " + shown);
    if (count < 1 || count > DIMENSIONS_MAX) {
      throw cursor.broken(shown + " has " + Integer.toUnsignedString(count) + " dimensions");
    }
    var dimensions = new ArrayList<Integer>();
    long values = 1;
    for (int i = 0; i < count; i++) {
      long size = cursor.nextLong("the dimensions of " + shown);
      // No value takes less than half a byte, so a larger tensor cannot be in the file.
      if (size < 1 || size > Integer.MAX_VALUE || values > 2 * bytes.byteSize() / size) {
        throw cursor.broken(
            shown + " has a dimension of " + Long.toUnsignedString(size) + ", too large for it");
      }
      values *= size;
      dimensions.add((int) size);
    }
    var type = type(cursor.nextInt("the type of " + shown), shown);
    if (dimensions.getFirst() % type.blockValues() != 0) {
      throw cursor.broken(shown + " of " + type + " has rows of " + dimensions.getFirst());
    }
    return new Described(name, type, dimensions, cursor.nextLong("the offset of " + shown));
  }

  private TensorType type(int id, String tensor) throws ModelFileException {
    for (var type : TensorType.values()) {
      if (type.id() == id) return type;
    }
    throw new ModelFileException(
        path,
        tensor + " has the type " + Integer.toUnsignedString(id) + ", which is not supported",
        "convert the model to F16, BF16, F32, Q8_0 or Q4_0");
  }

  private SequencedMap<String, Tensor> placed(List<Described> described) throws ModelFileException {
    long alignment = metadata().number("general.alignment", 1, ALIGNMENT_MAX, ALIGNMENT_USUAL);
    long begin = (cursor.position() + alignment - 1) / alignment * alignment;
    var tensors = new LinkedHashMap<String, Tensor>();
    for (var one : described) {
      var shown = "tensor " + UnsupportedText.shown(one.name());
      long values = 1;
      for (int size : one.dimensions()) values *= size;
      long size = one.type().bytes(values);
      if (one.offset() < 0 || one.offset() % alignment != 0) {
        throw cursor.broken(shown + " begins at " + Long.toUnsignedString(one.offset()));
      }
      if (size > bytes.byteSize() - begin || one.offset() > bytes.byteSize() - begin - size) {
        throw new ModelFileException(
            path,
            "it ends at byte " + bytes.byteSize() + ", before the end of " + shown,
            "it was cut short: download or copy it again");
      }
      var slice = bytes.asSlice(begin + one.offset(), size);
      var tensor = new Tensor(one.name(), one.type(), one.dimensions(), slice);
      if (tensors.put(one.name(), tensor) != null) throw cursor.broken(shown + " stands twice");
    }
    return tensors;
  }
}
