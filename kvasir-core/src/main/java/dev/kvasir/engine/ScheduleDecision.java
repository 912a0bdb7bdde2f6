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

  /** In how many places it decides otherwise. */
  public int changesFrom(ScheduleDecision other) {
    return changes(givenUp, other.givenUp)
        + changes(preempted, other.preempted)
        + changes(chunks, other.chunks)
        + changes(idle, other.idle)
        + changes(fetches, other.fetches)
        + changes(admissions, other.admissions);
  }

  private static <T> int changes(List<T> these, List<T> those) {
    int common = Math.min(these.size(), those.size());
    int changes = Math.max(these.size(), those.size()) - common;
    for (int i = 0; i < common; i++) {
      if (!these.get(i).equals(those.get(i))) changes++;
    }
    return changes;
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

    /** The same, with that many blocks left for others. */
    RunningPlan withAvailable(int blocks) {
      return new RunningPlan(tokensLeft, blocks, givenUp, preempted, chunks, idle);
    }

    /** Returns whether it singles nobody out: all that decode get their token. */
    boolean isPlain() {
      return chunks.isEmpty() && idle.isEmpty() && !isAtOthersCost();
    }

    /** Returns whether any sequence had to give anything back. */
    boolean isAtOthersCost() {
      return !givenUp.isEmpty() || !preempted.isEmpty();
    }
  }
}
