/**
 * Generations, and the steps that give them tokens: by the model on processors, or paced by a clock
 * for engines that compute nothing.
 *
 * <pre>
 *   Generation: waiting → running → ended (stop, length, cancelled, failed)
 * </pre>
 *
 * <p>A generation belongs to the loop of its engine. Only {@link
 * dev.kvasir.embedded.step.StepThread} computes.
 */
package dev.kvasir.embedded.step;
