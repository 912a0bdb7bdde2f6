/**
 * Models of the time that a server takes around and within the steps of its engine.
 *
 * <pre>
 *   arrival - receive - call - hop - call - deliver - [queue | step | step ...] - outputs - answer
 *                        \___________\_______ one event loop ________________________/
 *
 *   processor   | launch k    | launch k+1 | outputs of k | launch k+2 | outputs of k+1 |
 *   GPU             | step k           | step k+1                | step k+2 ...
 * </pre>
 *
 * <p>{@link dev.kvasir.sim.server.FrontStage} is the API server: one event loop that reads prompts
 * and writes tokens, in the order in which they come, and a tokenizer for batches of prompts.
 * {@link dev.kvasir.sim.server.StepPipeline} is the engine's process, which prepares the next step
 * while the GPU computes this one, and sees what a step gave when it has launched the one after it.
 */
package dev.kvasir.sim.server;
