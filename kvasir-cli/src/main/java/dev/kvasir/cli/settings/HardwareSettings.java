package dev.kvasir.cli.settings;

import dev.kvasir.Nullable;
import dev.kvasir.Records;
import dev.kvasir.cli.config.Choices;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * The hardware of the engines: it gives the simulator its times and the room for KV blocks.
 *
 * @param gpu the GPU of each engine; null for embedded engines, and H100 for workers
 * @param tp how many GPUs share every layer of an engine
 * @param memoryUtilization the share of GPU memory to use
 * @param model the model's name; its part after the slash names a config beside others
 * @param modelConfig the model's config.json, or its folder; null for Llama 3.1 8B
 * @param table figures of GPUs; null for those that are known
 * @param latencyModel linear, roofline or trained-physics
 * @param alphaCoeffs times around the steps, in microseconds
 * @param betaCoeffs coefficients of a step
 * @param profile how a deployment takes its time, as {@code kvasir calibrate} wrote it; null for
 *     none
 * @param kvBytesPerToken what the K and V of a token take, in bytes or as a model's name; empty for
 *     what the model's config says
 * @param transferRate GB/s that an engine sends to others, and that it receives
 * @param transferLatency what a transfer between engines takes before its first byte
 */
public record HardwareSettings(
    @Nullable String gpu,
    int tp,
    double memoryUtilization,
    String model,
    @Nullable Path modelConfig,
    @Nullable Path table,
    String latencyModel,
    List<Double> alphaCoeffs,
    List<Double> betaCoeffs,
    @Nullable Path profile,
    String kvBytesPerToken,
    double transferRate,
    Duration transferLatency) {
  public static final HardwareSettings DEFAULT =
      new HardwareSettings(
          null,
          1,
          0.9,
          "",
          null,
          null,
          "trained-physics",
          List.of(),
          List.of(),
          null,
          "",
          25,
          Duration.ofNanos(50_000));

  private static final String GPU_DEFAULT = "H100";

  public HardwareSettings {
    alphaCoeffs = List.copyOf(alphaCoeffs);
    betaCoeffs = List.copyOf(betaCoeffs);
    Choices.atLeast("tp", tp, 1);
    if (!(transferRate > 0)) {
      throw new IllegalArgumentException(
          "transfer-rate " + transferRate + ", expected GB/s above 0");
    }
    if (transferLatency.isNegative()) {
      throw new IllegalArgumentException("transfer-latency " + transferLatency + " is negative");
    }
  }

  /** The GPU that the simulator takes for an engine. */
  public String gpuOrDefault() {
    return gpu == null ? GPU_DEFAULT : gpu;
  }

  /** The same on that GPU. */
  HardwareSettings on(String other) {
    return Records.with(this, "gpu", other);
  }
}
