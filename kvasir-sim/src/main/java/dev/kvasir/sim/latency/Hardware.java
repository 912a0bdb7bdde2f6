package dev.kvasir.sim.latency;

/**
 * Capabilities of one GPU.
 *
 * @param name what it is called
 * @param teraflops its peak in 16-bit arithmetic
 * @param teraflopsFp8 its peak in 8-bit arithmetic; 0 where it has none
 * @param terabytesPerSecond the bandwidth of its memory
 * @param prefillShare which part of the peak prefill reaches
 * @param decodeShare which part of the peak decode reaches
 * @param memoryGib the size of its memory; 0 where nobody asks for it
 */
public record Hardware(
    String name,
    double teraflops,
    double teraflopsFp8,
    double terabytesPerSecond,
    double prefillShare,
    double decodeShare,
    double memoryGib) {
  public Hardware {
    positive(name, "TFlopsPeak", teraflops);
    positive(name, "BwPeakTBs", terabytesPerSecond);
    positive(name, "mfuPrefill", prefillShare);
    positive(name, "mfuDecode", decodeShare);
    if (teraflopsFp8 != 0) positive(name, "TFlopsFP8", teraflopsFp8);
    if (memoryGib != 0) positive(name, "MemoryGiB", memoryGib);
  }

  private static void positive(String name, String figure, double value) {
    if (!(value > 0 && value < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          figure + " of " + name + " is " + value + "; give a number above 0");
    }
  }

  /** The peak for weights of such a size: the 8-bit one only where weights have 8 bits exactly. */
  double teraflops(ModelSizes.Precision precision) {
    return precision.weightBytes() == 1 && teraflopsFp8 > 0 ? teraflopsFp8 : teraflops;
  }
}
