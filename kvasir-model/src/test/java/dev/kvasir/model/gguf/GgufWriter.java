package dev.kvasir.model.gguf;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Writes small GGUF files, right ones and wrong ones. */
public final class GgufWriter {
  private static final int ALIGNMENT = 32;

  private final List<byte[]> entries = new ArrayList<>();
  private final List<Written> tensors = new ArrayList<>();

  @SuppressWarnings("ArrayRecordComponent")
  private record Written(String name, int type, int[] sizes, byte[] bytes) {}

  public GgufWriter text(String key, String value) {
    return entry(key, 8, new Bytes().text(value));
  }

  public GgufWriter number(String key, int value) {
    return entry(key, 4, new Bytes().number(value));
  }

  public GgufWriter decimal(String key, float value) {
    return entry(key, 6, new Bytes().number(Float.floatToRawIntBits(value)));
  }

  public GgufWriter texts(String key, List<String> values) {
    var bytes = new Bytes().number(8).big(values.size());
    values.forEach(bytes::text);
    return entry(key, 9, bytes);
  }

  public GgufWriter numbers(String key, int... values) {
    var bytes = new Bytes().number(5).big(values.length);
    for (int value : values) bytes.number(value);
    return entry(key, 9, bytes);
  }

  /** An entry with any bytes behind its type. */
  public GgufWriter entry(String key, int type, Bytes value) {
    entries.add(new Bytes().text(key).number(type).bytes(value.toArray()).toArray());
    return this;
  }

  /** A tensor whose values are written in the type, as near as it can. */
  public GgufWriter tensor(String name, TensorType type, float[] values, int... sizes) {
    return tensor(name, type.id(), encoded(type, values), sizes);
  }

  public GgufWriter tensor(String name, int type, byte[] bytes, int... sizes) {
    tensors.add(new Written(name, type, sizes, bytes));
    return this;
  }

  private static byte[] encoded(TensorType type, float[] values) {
    var out = new Bytes();
    switch (type) {
      case F32 -> {
        for (float value : values) out.number(Float.floatToRawIntBits(value));
      }
      case F16 -> {
        for (float value : values) out.half(Float.floatToFloat16(value));
      }
      case BF16 -> {
        for (float value : values) out.half((short) (Float.floatToRawIntBits(value) >> 16));
      }
      case Q8_0, Q4_0 -> {
        for (int i = 0; i < values.length; i += 32) quantized(type, values, i, out);
      }
    }
    return out.toArray();
  }

  private static void quantized(TensorType type, float[] values, int from, Bytes out) {
    float most = 0;
    for (int i = 0; i < 32; i++) most = Math.max(most, Math.abs(values[from + i]));
    short scale = Float.floatToFloat16(most / (type == TensorType.Q8_0 ? 127 : 7));
    float step = Math.max(Float.float16ToFloat(scale), Float.MIN_NORMAL);
    out.half(scale);
    for (int i = 0; i < (type == TensorType.Q8_0 ? 32 : 16); i++) {
      int low = Math.round(values[from + i] / step);
      if (type == TensorType.Q8_0) {
        out.one(Math.clamp(low, -127, 127));
      } else {
        int high = Math.round(values[from + 16 + i] / step);
        out.one((Math.clamp(low, -8, 7) + 8) | ((Math.clamp(high, -8, 7) + 8) << 4));
      }
    }
  }

  public byte[] toArray() {
    var out = new Bytes().number(0x46554747).number(3).big(tensors.size()).big(entries.size());
    entries.forEach(out::bytes);
    long offset = 0;
    for (var tensor : tensors) {
      out.text(tensor.name).number(tensor.sizes.length);
      for (int size : tensor.sizes) out.big(size);
      out.number(tensor.type).big(offset);
      offset += aligned(tensor.bytes.length);
    }
    out.fill(aligned(out.size()));
    for (var tensor : tensors) {
      int begin = out.size();
      out.bytes(tensor.bytes).fill(begin + aligned(tensor.bytes.length));
    }
    return out.toArray();
  }

  public Path write(Path file) {
    try {
      return Files.write(file, toArray());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int aligned(int size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }

  /** Little-endian bytes. */
  public static final class Bytes {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    public Bytes one(int value) {
      out.write(value);
      return this;
    }

    Bytes half(short value) {
      return one(value).one(value >> 8);
    }

    public Bytes number(int value) {
      return bytes(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array());
    }

    public Bytes big(long value) {
      return bytes(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array());
    }

    public Bytes text(String text) {
      var bytes = text.getBytes(StandardCharsets.UTF_8);
      return big(bytes.length).bytes(bytes);
    }

    public Bytes bytes(byte[] bytes) {
      out.writeBytes(bytes);
      return this;
    }

    Bytes fill(int size) {
      while (out.size() < size) out.write(0);
      return this;
    }

    int size() {
      return out.size();
    }

    byte[] toArray() {
      return out.toByteArray();
    }
  }
}
