package dev.kvasir.gpu.model;

import java.util.List;

/**
 * How the kernels of small steps hide the time to memory; what comes out is the same.
 *
 * @param begin when a kernel begins
 * @param piecesAhead how many pieces of a row are on their way at a time
 * @param fetchedBytes how much of each first row is brought closer before the kernel before ends
 */
public record KernelTuning(Begin begin, int piecesAhead, int fetchedBytes) {
  public static final KernelTuning USUAL = new KernelTuning(Begin.IN_TURN, 4, 0);

  /** When a kernel begins. */
  public enum Begin {
    /** When the one before it has ended. */
    IN_TURN,
    /** While the one before it ends, to read what does not depend on it; Hopper can. */
    EARLY
  }

  /** The macros that the kernels are compiled with. */
  List<String> macros() {
    return List.of("-DAHEAD=" + piecesAhead, "-DFETCHED_BYTES=" + fetchedBytes);
  }
}
