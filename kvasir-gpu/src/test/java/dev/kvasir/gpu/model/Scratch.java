package dev.kvasir.gpu.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.CudaStream;
import dev.kvasir.gpu.Direction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;

/** Arrays of the host on a GPU and back, for checks. */
final class Scratch implements AutoCloseable {
  private final CudaDevice device;
  private final CudaStack resources = new CudaStack();
  final CudaStream stream;
  final Random random;

  Scratch(CudaDevice device, long seed) throws CudaFailure {
    this.device = device;
    this.stream = resources.add(device.stream(CudaDevice.Urgency.USUAL));
    this.random = new Random(seed);
  }

  /** Numbers from a normal distribution that bf16 can hold. */
  float[] numbers(int count) {
    var values = new float[count];
    for (int i = 0; i < count; i++) values[i] = rounded((float) random.nextGaussian());
    return values;
  }

  static float rounded(float value) {
    return fromBf16(toBf16(value));
  }

  /** The nearest bf16; of two, the even one. */
  private static short toBf16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if (Float.isNaN(value)) return (short) (bits >>> 16 | 0x40);
    return (short) ((bits + 0x7fff + (bits >>> 16 & 1)) >>> 16);
  }

  private static float fromBf16(short value) {
    return Float.intBitsToFloat(value << 16);
  }

  /** As bf16 on the GPU. */
  long bf16(float[] values) throws CudaFailure {
    try (var arena = Arena.ofShared()) {
      var host = arena.allocate(2L * values.length, 64);
      for (int i = 0; i < values.length; i++) {
        host.setAtIndex(JAVA_SHORT, i, toBf16(values[i]));
      }
      return up(host);
    }
  }

  long floats(float... values) throws CudaFailure {
    try (var arena = Arena.ofShared()) {
      return up(arena.allocateFrom(JAVA_FLOAT, values));
    }
  }

  long ints(int... values) throws CudaFailure {
    try (var arena = Arena.ofShared()) {
      return up(arena.allocateFrom(JAVA_INT, values));
    }
  }

  long bytes(byte... values) throws CudaFailure {
    try (var arena = Arena.ofShared()) {
      return up(arena.allocateFrom(JAVA_BYTE, values));
    }
  }

  /** Memory in which every number is none, so that what nobody wrote is seen. */
  long poisoned(long bytes) throws CudaFailure {
    try (var arena = Arena.ofShared()) {
      var host = arena.allocate(bytes, 64);
      host.fill((byte) 0xff);
      return up(host);
    }
  }

  long up(MemorySegment host) throws CudaFailure {
    long at = resources.add(device.allocate(Math.max(256, host.byteSize()))).value();
    try (var pinned = device.register(host)) {
      stream.copy(Direction.UP, at, pinned.value(), host.byteSize());
      stream.await();
    }
    return at;
  }

  float[] floatsAt(long at, int count) throws CudaFailure {
    try (var arena = Arena.ofShared()) {
      return down(arena.allocate(4L * count, 64), at).toArray(JAVA_FLOAT);
    }
  }

  int[] intsAt(long at, int count) throws CudaFailure {
    try (var arena = Arena.ofShared()) {
      return down(arena.allocate(4L * count, 64), at).toArray(JAVA_INT);
    }
  }

  float[] bf16At(long at, int count) throws CudaFailure {
    try (var arena = Arena.ofShared()) {
      var host = down(arena.allocate(2L * count, 64), at);
      var values = new float[count];
      for (int i = 0; i < count; i++) values[i] = fromBf16(host.getAtIndex(JAVA_SHORT, i));
      return values;
    }
  }

  private MemorySegment down(MemorySegment host, long at) throws CudaFailure {
    try (var pinned = device.register(host)) {
      stream.copy(Direction.DOWN, at, pinned.value(), host.byteSize());
      stream.await();
    }
    return host;
  }

  @Override
  public void close() {
    resources.close();
  }
}
