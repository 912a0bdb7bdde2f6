/**
 * Continuous batching. {@link dev.kvasir.engine.Scheduler} plans a step without changing anything
 * ({@code compute}) and commits to it ({@code apply}). {@link dev.kvasir.engine.Engine} runs steps
 * on a {@link dev.kvasir.engine.ModelBackend} and plans the next one meanwhile.
 *
 * <pre>
 *   waiting --> running --> ended
 *     ^   \        |
 *     |  fetching   |
 *     |____________/ preempted
 * </pre>
 *
 * <p>The applied schedule is one that a fresh compute on the same state would allow, and blocks are
 * never overcommitted (INV-7).
 */
package dev.kvasir.engine;
