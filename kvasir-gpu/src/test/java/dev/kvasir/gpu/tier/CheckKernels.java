package dev.kvasir.gpu.tier;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaModule;
import dev.kvasir.gpu.CudaStream;
import dev.kvasir.gpu.StubCuda;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/** Kernels that write, compare and compute, with the same words made here for comparison. */
final class CheckKernels implements AutoCloseable {
  private static final int GROUPS = 64;
  private static final int THREADS = 256;

  private final CudaModule module;
  private final CudaModule.Kernel fill;
  private final CudaModule.Kernel check;
  private final CudaModule.Kernel slowFill;
  private final CudaModule.Kernel compute;
  private final CudaModule.Kernel stream;

  CheckKernels(CudaDevice device) throws CudaFailure {
    this.module = device.module(text());
    this.fill = module.kernel("fill");
    this.check = module.kernel("check");
    this.slowFill = module.kernel("slow_fill");
    this.compute = module.kernel("compute");
    this.stream = module.kernel("stream");
  }

  private static String text() {
    try (var file = StubCuda.class.getResourceAsStream("check.ptx")) {
      assertThat(file).isNotNull();
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void fill(CudaStream on, long address, long words, long seed) throws CudaFailure {
    on.launch(fill, GROUPS, THREADS, address, words, seed);
  }

  /** Adds the number of words that differ to the word at an address of the GPU. */
  void check(CudaStream on, long address, long words, long seed, long wrong) throws CudaFailure {
    on.launch(check, GROUPS, THREADS, address, words, seed, wrong);
  }

  /** Writes something else for so long, then the words. */
  void slowFill(CudaStream on, long address, long words, long seed, long nanos) throws CudaFailure {
    on.launch(slowFill, 1, THREADS, address, words, seed, nanos);
  }

  void compute(CudaStream on, int groups, long rounds, long scratch) throws CudaFailure {
    on.launch(compute, groups, THREADS, rounds, scratch);
  }

  void stream(CudaStream on, int groups, long from, long to, long bytes) throws CudaFailure {
    on.launch(stream, groups, THREADS, from, to, bytes / 16);
  }

  static long word(long seed, long index) {
    long word = (seed + index) * -7046029254386353131L;
    return (word ^ word >>> 29) * -4658895280553007687L;
  }

  /** Checks on the host that all words are those of the seed. */
  static void check(MemorySegment slot, long seed) {
    for (long i = 0; i < slot.byteSize() / Long.BYTES; i++) {
      long found = slot.getAtIndex(JAVA_LONG, i);
      if (found != word(seed, i)) {
        assertThat(found).as("word %s of seed %s", i, seed).isEqualTo(word(seed, i));
      }
    }
  }

  @Override
  public void close() throws CudaFailure {
    module.close();
  }
}
