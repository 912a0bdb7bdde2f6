package dev.kvasir.engine;

import java.util.EnumSet;
import java.util.Set;

/**
 * How an engine forms its batches.
 *
 * @param sequencesMax the most sequences in a batch
 * @param stepTokensMax the most tokens computed in a step
 * @param chunkTokensMax the most tokens of one prompt in a step; 0 for no limit of its own
 * @param contextTokensMax the longest sequence, output included; 0 for no limit
 * @param order who is admitted first
 * @param victim who makes room when memory runs out
 * @param quirks departures from what is sound, to compare with other systems
 * @param planning when the next step is planned
 * @param room how much memory must be free for a prompt to be admitted
 */
public record EngineSettings(
    int sequencesMax,
    int stepTokensMax,
    int chunkTokensMax,
    int contextTokensMax,
    SchedulingPolicy order,
    Victim victim,
    Set<BatchQuirk> quirks,
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
          EnumSet.noneOf(BatchQuirk.class));

  /** How much memory must be free for a prompt to be admitted. */
  public enum Room {
    /** Enough for the tokens that its first step computes. */
    FIRST_CHUNK,
    /**
     * Enough for all of the prompt, as vLLM asks by default: a long prompt that is admitted chunk
     * by chunk into a memory that cannot hold it makes room for itself, again and again.
     */
    WHOLE_PROMPT
  }

  /** Who makes room when memory runs out. */
  public enum Victim {
    /** Whoever was admitted last. */
    NEWEST,
    /** The least urgent, and among these whoever came last. */
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
    var copy = EnumSet.noneOf(BatchQuirk.class);
    copy.addAll(quirks);
    quirks = copy;
  }

  /** Settings that admit a prompt as soon as its first chunk has room. */
  public EngineSettings(
      int sequencesMax,
      int stepTokensMax,
      int chunkTokensMax,
      int contextTokensMax,
      SchedulingPolicy order,
      Victim victim,
      Set<BatchQuirk> quirks,
      PlanningSettings planning) {
    this(
        sequencesMax,
        stepTokensMax,
        chunkTokensMax,
        contextTokensMax,
        order,
        victim,
        quirks,
        planning,
        Room.FIRST_CHUNK);
  }

  /** Settings that plan as usual. */
  public EngineSettings(
      int sequencesMax,
      int stepTokensMax,
      int chunkTokensMax,
      int contextTokensMax,
      SchedulingPolicy order,
      Victim victim,
      Set<BatchQuirk> quirks) {
    this(
        sequencesMax,
        stepTokensMax,
        chunkTokensMax,
        contextTokensMax,
        order,
        victim,
        quirks,
        PlanningSettings.DEFAULT);
  }

  public EngineSettings with(BatchQuirk quirk) {
    var more = EnumSet.of(quirk);
    more.addAll(quirks);
    return new EngineSettings(
        sequencesMax,
        stepTokensMax,
        chunkTokensMax,
        contextTokensMax,
        order,
        victim,
        more,
        planning,
        room);
  }

  public EngineSettings with(PlanningSettings how) {
    return new EngineSettings(
        sequencesMax,
        stepTokensMax,
        chunkTokensMax,
        contextTokensMax,
        order,
        victim,
        quirks,
        how,
        room);
  }

  public EngineSettings with(Room free) {
    return new EngineSettings(
        sequencesMax,
        stepTokensMax,
        chunkTokensMax,
        contextTokensMax,
        order,
        victim,
        quirks,
        planning,
        free);
  }

  /** The same with another longest sequence; 0 for no limit. */
  public EngineSettings withContext(int tokensMax) {
    return new EngineSettings(
        sequencesMax,
        stepTokensMax,
        chunkTokensMax,
        tokensMax,
        order,
        victim,
        quirks,
        planning,
        room);
  }

  boolean has(BatchQuirk quirk) {
    return quirks.contains(quirk);
  }

  /** The limits that are left for a prompt's next chunk. */
  int clipChunk(int tokens) {
    return chunkTokensMax > 0 ? Math.min(tokens, chunkTokensMax) : tokens;
  }

  /** The last token of a full context is sampled and never computed. */
  int clipToContext(int tokens) {
    return contextTokensMax > 0 ? Math.min(tokens, contextTokensMax - 1) : tokens;
  }

  /** What another system does and a sound engine should not; only comparisons switch these on. */
  public enum BatchQuirk {
    /** A prompt that is cached whole costs nothing, not even its last token, and holds no block. */
    WHOLE_PROMPT_IS_FREE,
    /** A preempted sequence forgets what it had sampled and samples it again. */
    PREEMPTION_FORGETS_OUTPUT,
    /** Sequences are admitted one by one, each seeing the blocks that the one before just took. */
    ADMITS_ONE_BY_ONE,
    /**
     * Running sequences take their blocks in order, each preempting for itself: a victim that
     * stands further ahead has taken blocks in this step, and what these blocks held before is
     * lost.
     */
    PREEMPTS_ONE_BY_ONE
  }
}
