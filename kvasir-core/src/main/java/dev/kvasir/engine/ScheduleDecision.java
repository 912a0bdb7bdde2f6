package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.engine.ScheduleDecision.Chunk;
import java.util.List;

/**
 * Decision on what the next step should compute; nothing has been changed for it yet. Every
 * decoding sequence that is not idle gets one token.
 *
 * @param givenUp waiting sequences that lose the blocks fetched for them
 * @param preempted running sequences that make room, in the order of their going
 * @param chunks further parts of prompts that are being computed
 * @param idle decoding sequences for which this step has nothing
 * @param fetches waiting sequences whose blocks should be brought up first
 * @param admissions waiting sequences that join
 * @param overtaken waiting sequences whose blocks find no room on the way up, as far as others
 *     behind them are served
 * @param blocked the sequence that lacked memory to be admitted, and what was missing
 */
public record ScheduleDecision(
    List<Sequence> givenUp,
    List<Sequence> preempted,
    List<Chunk> chunks,
    List<Sequence> idle,
    List<Sequence> fetches,
    List<Admission> admissions,
    List<Overtaken> overtaken,
    @Nullable Blocked blocked) {
  /** All that decode get their token, and nothing else is done. */
  static final ScheduleDecision STEADY =
      new ScheduleDecision(
          List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), null);

  /** Returns whether it is {@link #STEADY} itself, as most decisions are. */
  @SuppressWarnings("ReferenceEquality")
  boolean isSteady() {
    return this == STEADY;
  }

  /** Returns the number of sequences it singles out; all others just get their next token. */
  public int changes() {
    if (isSteady()) return 0;
    return givenUp.size()
        + preempted.size()
        + chunks.size()
        + idle.size()
        + fetches.size()
        + admissions.size();
  }

  /** Returns whether it has the same done for the same sequences. */
  boolean isSame(ScheduleDecision other) {
    return (isSteady() && other.isSteady())
        || (givenUp.equals(other.givenUp)
            && preempted.equals(other.preempted)
            && chunks.equals(other.chunks)
            && idle.equals(other.idle)
            && fetches.equals(other.fetches)
            && admissions.equals(other.admissions));
  }

  /** Returns the same with these parts of prompts. */
  ScheduleDecision withChunks(List<Chunk> others) {
    return new ScheduleDecision(
        givenUp, preempted, others, idle, fetches, admissions, overtaken, blocked);
  }

  /** A part of a prompt. */
  public record Chunk(Sequence sequence, int tokens) {}

  /** A sequence that joins, with its cached blocks and the tokens that it computes at once. */
  public record Admission(Sequence sequence, int cachedBlocks, int tokens) {}

  /** A sequence that waits on, while so many behind it are served. */
  record Overtaken(Sequence sequence, int times) {}

  /** A sequence that found too few blocks available, with the blocks it had cached. */
  record Blocked(Sequence sequence, int cachedBlocks, int available) {}

  /**
   * Part of a step that the sequences already running get.
   *
   * @param tokensLeft number of tokens of the step that are left for others
   * @param available number of blocks that are left for others
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

    /** Returns whether any sequence had to give anything back. */
    boolean isAtOthersCost() {
      return !givenUp.isEmpty() || !preempted.isEmpty();
    }
  }
}
