package dev.kvasir.gpu.model;

import java.nio.file.Path;

/**
 * Amount of the GPU that a model takes, and the way it runs.
 *
 * @param stepTokensMax so many tokens a step may have
 * @param rowsMax so many sequences a step may have
 * @param graphs whether steps that only decode run as graphs
 * @param cache where compiled kernels are kept
 * @param tuning how the kernels of small steps hide the time to memory
 */
public record GpuModelSettings(
    int stepTokensMax, int rowsMax, Graphs graphs, Path cache, KernelTuning tuning) {
  /** Tuned as usual. */
  public GpuModelSettings(int stepTokensMax, int rowsMax, Graphs graphs, Path cache) {
    this(stepTokensMax, rowsMax, graphs, cache, KernelTuning.USUAL);
  }

  /** Use of graphs for steps that only decode. */
  public enum Graphs {
    USED,
    UNUSED
  }

  public GpuModelSettings {
    if (stepTokensMax < 1 || rowsMax < 1 || rowsMax > stepTokensMax) {
      throw new IllegalArgumentException(stepTokensMax + " tokens, " + rowsMax + " rows");
    }
  }
}
