package dev.kvasir.gpu;

/** Direction in which bytes go between a GPU and the host. */
public enum Direction {
  /** From the GPU to the host: offload. */
  DOWN,
  /** From the host to the GPU: onboarding. */
  UP
}
