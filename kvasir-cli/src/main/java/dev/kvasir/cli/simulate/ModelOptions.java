package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.cli.settings.HardwareSettings;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Options for the latency of a look-alike worker's model; each option is a key of {@code hardware}.
 */
@Command(optionListHeading = "%nModel and GPU:%n")
public final class ModelOptions {
  @Option(
      names = "--latency-model",
      paramLabel = "NAME",
      description = "linear, roofline or trained-physics (default: ${DEFAULT-VALUE}).")
  private String latencyModel = HardwareSettings.DEFAULT.latencyModel();

  @Option(
      names = "--alpha-coeffs",
      paramLabel = "A,A,A",
      split = ",",
      description = "Times around the steps, in microseconds.")
  private List<Double> alphas = List.of();

  @Option(
      names = "--beta-coeffs",
      paramLabel = "B,B,…",
      split = ",",
      description =
          "Coefficients of a step. linear takes step, prefill and decode token, and optionally what"
              + " each token of context adds to these two.")
  private List<Double> betas = List.of();

  @Option(
      names = "--model",
      paramLabel = "NAME",
      description = "The model's name; its part after the slash names a config beside others.")
  private String model = "";

  @Option(
      names = {"--model-config", "--model-config-folder"},
      paramLabel = "PATH",
      description = "The model's config.json, or its folder (default: Llama 3.1 8B).")
  private @Nullable Path modelConfig;

  @Option(
      names = "--hardware-config",
      paramLabel = "FILE",
      description = "Figures of GPUs (default: the built-in ones).")
  private @Nullable Path table;

  @Option(
      names = "--hardware",
      paramLabel = "GPU",
      description = "The GPU of a worker (default: ${DEFAULT-VALUE}).")
  private String gpu = HardwareSettings.DEFAULT.gpuOrDefault();

  @Option(
      names = "--tp",
      paramLabel = "N",
      description = "GPUs that share every layer (default: ${DEFAULT-VALUE}).")
  private int gpus = HardwareSettings.DEFAULT.tp();

  @Option(
      names = "--gpu-memory-utilization",
      paramLabel = "SHARE",
      description = "Share of GPU memory to use (default: ${DEFAULT-VALUE}).")
  private double memoryShare = HardwareSettings.DEFAULT.memoryUtilization();

  /** The hardware that was asked for. */
  public SimulatedHardware hardware() {
    var usual = HardwareSettings.DEFAULT;
    return new SimulatedHardware(
        new HardwareSettings(
            gpu,
            gpus,
            memoryShare,
            model,
            modelConfig,
            table,
            latencyModel,
            alphas,
            betas,
            null,
            usual.kvBytesPerToken(),
            usual.transferRate(),
            usual.transferLatency()));
  }
}
