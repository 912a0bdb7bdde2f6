package dev.kvasir.gpu;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The kernel that copies many pieces of one size, between any two places the GPU can address. */
public final class MoveKernel implements AutoCloseable {
  /** Words in the table for each piece: from where, to where. */
  public static final int TABLE_WORDS = 2;

  /** Number of bytes that addresses and sizes must be multiples of. */
  public static final int ALIGNMENT_BYTES = 16;

  /** Pieces of the table that a group of threads can hold. */
  public static final int GROUP_PIECES_MAX = 1024;

  private static final int UNIT_BYTES = 4096;
  private static final String FILE = "move.ptx";

  /**
   * Share of the GPU that a copy takes.
   *
   * @param groups of threads, each on a processor of its own if one is free
   */
  public record Width(int groups, int threads) {
    /** Returns how many pieces it copies at most: with one more, a group's table might overflow. */
    public int piecesMax() {
      return groups * (GROUP_PIECES_MAX - 2);
    }
  }

  private final CudaModule module;
  private final CudaModule.Kernel kernel;

  private MoveKernel(CudaModule module) throws CudaFailure {
    this.module = module;
    this.kernel = module.kernel("kvasir_move");
  }

  /** Has the driver compile it for this GPU. */
  public static MoveKernel load(CudaDevice device) throws CudaFailure {
    return new MoveKernel(device.module(text()));
  }

  static String text() {
    try (var file = MoveKernel.class.getResourceAsStream(FILE)) {
      if (file == null) throw new IllegalStateException(FILE + " is not beside its class");
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(FILE, e);
    }
  }

  /** Returns whether the kernel can copy pieces of that size. */
  public static boolean supports(long pieceBytes) {
    return pieceBytes % ALIGNMENT_BYTES == 0 && pieceBytes <= 1 << 30;
  }

  /** Copies the pieces of the table, which stays as it is until that is done. */
  public void launch(CudaStream stream, Width width, long table, int pieces, int pieceBytes)
      throws CudaFailure {
    if (pieces > width.piecesMax() || !supports(pieceBytes)) {
      throw new IllegalArgumentException(pieces + " pieces of " + pieceBytes + " by " + width);
    }
    long unitBytes = Math.min(UNIT_BYTES, pieceBytes);
    long units = (pieceBytes + unitBytes - 1) / unitBytes;
    stream.launch(
        kernel,
        width.groups(),
        width.threads(),
        table,
        units * pieces,
        units,
        unitBytes,
        pieceBytes);
  }

  @Override
  public void close() throws CudaFailure {
    module.close();
  }
}
