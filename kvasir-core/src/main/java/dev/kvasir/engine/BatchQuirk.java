package dev.kvasir.engine;

/** What another system does and a sound engine should not; only comparisons switch these on. */
public enum BatchQuirk {
  /** A prompt that is cached whole costs nothing, not even its last token, and holds no block. */
  WHOLE_PROMPT_IS_FREE,
  /** A preempted sequence forgets what it had sampled and samples it again. */
  PREEMPTION_FORGETS_OUTPUT,
  /** Sequences are admitted one by one, each seeing the blocks that the one before just took. */
  ADMITS_ONE_BY_ONE,
  /**
   * Running sequences take their blocks in order, each preempting for itself: a victim that stands
   * further ahead has taken blocks in this step, and what these blocks held before is lost.
   */
  PREEMPTS_ONE_BY_ONE
}
