/**
 * A model that computes on a GPU: weights in bf16, keys and values in the blocks of the device
 * tier.
 *
 * <pre>
 *   rows of a step ──> StepTables ──copy──> embed ─> layers ─> logits ─> sample ──copy──> host
 *                                             ▲                            │
 *                                             └──── sampled tokens ────────┘  never leave the GPU
 * </pre>
 *
 * <p>A step is launched and not awaited: the next one may be launched before it has ended, since it
 * reads the sampled tokens on the device. Decode-only steps run as CUDA graphs, one for each padded
 * size.
 */
package dev.kvasir.gpu.model;
