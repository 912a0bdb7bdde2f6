package dev.kvasir.engine;

import dev.kvasir.engine.ScheduleDecision.Chunk;
import java.util.List;

/**
 * What those that run already get in a step.
 *
 * @param tokensLeft how many tokens of the step are left for others
 * @param available how many blocks are left for others
 * @param givenUp waiting sequences that lose the blocks fetched for them
 * @param preempted running sequences that make room, in the order of their going
 * @param chunks further parts of prompts
 * @param idle decoding sequences that get nothing
 */
record RunningPlan(
    int tokensLeft,
    int available,
    List<Sequence> givenUp,
    List<Sequence> preempted,
    List<Chunk> chunks,
    List<Sequence> idle) {

  /** The same with so many blocks left for others. */
  RunningPlan withAvailable(int blocks) {
    return new RunningPlan(tokensLeft, blocks, givenUp, preempted, chunks, idle);
  }

  /** Whether anybody had to give anything back. */
  boolean isAtOthersCost() {
    return !givenUp.isEmpty() || !preempted.isEmpty();
  }
}
