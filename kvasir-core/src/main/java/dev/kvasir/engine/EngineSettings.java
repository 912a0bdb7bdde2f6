package dev.kvasir.engine;

import dev.kvasir.Records;

/**
 * Settings for how an engine forms its batches.
 *
 * @param sequencesMax the most sequences in a batch
 * @param stepTokensMax the most tokens computed in a step
 * @param chunkTokensMax the most tokens of one prompt in a step; 0 for no limit of its own
 * @param contextTokensMax the longest sequence, output included; 0 for no limit
 * @param order rule for which sequence is admitted first
 * @param victim rule for which sequence is preempted when memory runs out
 * @param planning settings for when the next step is planned
 * @param room the memory that must be free for a prompt to be admitted
 */
public record EngineSettings(
    int sequencesMax,
    int stepTokensMax,
    int chunkTokensMax,
    int contextTokensMax,
    SchedulingPolicy order,
    Victim victim,
    PlanningSettings planning,
    Room room) {

  public static final EngineSettings DEFAULT =
      new EngineSettings(
          256,
          2048,
          0,
          0,
          SchedulingPolicy.FIRST_COME,
          Victim.NEWEST,
          PlanningSettings.DEFAULT,
          Room.FIRST_CHUNK);

  /** Amount of memory that must be free for a prompt to be admitted. */
  public enum Room {
    /** Enough for the tokens that its first step computes. */
    FIRST_CHUNK,
    /**
     * Enough for all of the prompt, as vLLM asks by default: a long prompt that is admitted chunk
     * by chunk into a memory that cannot hold it makes room for itself, again and again.
     */
    WHOLE_PROMPT
  }

  /** Choice of the sequence that is preempted when memory runs out. */
  public enum Victim {
    /** The sequence that was admitted last. */
    NEWEST,
    /** The least urgent sequence, and among these the last to arrive. */
    LEAST_URGENT
  }

  public EngineSettings {
    if (sequencesMax < 1 || stepTokensMax < 1) {
      throw new IllegalArgumentException(
          "at most %s sequences and %s tokens a step, expected at least 1 of each"
              .formatted(sequencesMax, stepTokensMax));
    }
    if (chunkTokensMax < 0 || contextTokensMax < 0) {
      throw new IllegalArgumentException(
          "chunks of %s tokens, context of %s; 0 stands for no limit"
              .formatted(chunkTokensMax, contextTokensMax));
    }
  }

  /** The usual settings with other limits of a batch. */
  public static EngineSettings of(int sequencesMax, int stepTokensMax) {
    return of(sequencesMax, stepTokensMax, 0, 0, SchedulingPolicy.FIRST_COME, Victim.NEWEST);
  }

  /** Settings of an engine that plans as usual. */
  public static EngineSettings of(
      int sequencesMax,
      int stepTokensMax,
      int chunkTokensMax,
      int contextTokensMax,
      SchedulingPolicy order,
      Victim victim) {
    return new EngineSettings(
        sequencesMax,
        stepTokensMax,
        chunkTokensMax,
        contextTokensMax,
        order,
        victim,
        PlanningSettings.DEFAULT,
        Room.FIRST_CHUNK);
  }

  public EngineSettings with(PlanningSettings how) {
    return Records.with(this, "planning", how);
  }

  public EngineSettings with(Room free) {
    return Records.with(this, "room", free);
  }

  /** The same with another longest sequence; 0 for no limit. */
  public EngineSettings withContext(int tokensMax) {
    return Records.with(this, "contextTokensMax", tokensMax);
  }

  /** The limits that are left for a prompt's next chunk. */
  int clipChunk(int tokens) {
    return chunkTokensMax > 0 ? Math.min(tokens, chunkTokensMax) : tokens;
  }

  /** The last token of a full context is sampled and never computed. */
  int clipToContext(int tokens) {
    return contextTokensMax > 0 ? Math.min(tokens, contextTokensMax - 1) : tokens;
  }
}
