package dev.kvasir.sim.latency;

/**
 * A model on the GPUs of one instance.
 *
 * @param model the model's sizes
 * @param hardware what each of its GPUs can do
 * @param gpus over how many GPUs every layer is split
 */
public record ModelDeployment(ModelSizes model, Hardware hardware, int gpus) {
  public ModelDeployment {
    if (gpus < 1) throw new IllegalArgumentException("a model on " + gpus + " GPUs");
    int heads = model.attention().heads();
    int kvHeads = model.attention().kvHeads();
    if (heads % gpus != 0 || (kvHeads > gpus && kvHeads % gpus != 0)) {
      throw new LatencyError(
          "%d heads, %d for keys and values, do not split over %d GPUs; choose a divisor"
              .formatted(heads, kvHeads, gpus));
    }
  }
}
