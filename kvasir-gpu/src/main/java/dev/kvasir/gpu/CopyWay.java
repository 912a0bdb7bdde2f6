package dev.kvasir.gpu;

/** The ways to copy blocks between a GPU and the host. */
public enum CopyWay {
  /** One copy for each run of blocks that lie side by side on both sides. */
  RUNS,
  /** By a kernel through a staging buffer on the GPU, from which runs on the host are copied. */
  STAGED,
  /** One call of the driver for many pieces. */
  BATCH,
  /** A kernel that reads or writes registered host memory itself. */
  DIRECT
}
