package dev.kvasir.gpu.model;

import java.util.List;

/**
 * Ways in which the kernels of small steps hide the latency of memory; the results are the same.
 *
 * @param begin when the kernels around attention begin
 * @param piecesAhead how many pieces of a row are on their way at a time
 */
public record KernelTuning(Begin begin, int piecesAhead) {
  public static final KernelTuning USUAL = new KernelTuning(Begin.EARLY, 4);

  /** When the kernels around attention begin: rope, attention, and the product behind it. */
  public enum Begin {
    /** When the one before it has ended. */
    IN_TURN,
    /**
     * While the one before it runs; Hopper can. One sequence attends with few processors, so that
     * the others have time to read the next matrix.
     */
    EARLY
  }

  /** The macros that the kernels are compiled with. */
  List<String> macros() {
    return List.of("-DAHEAD=" + piecesAhead);
  }
}
