package dev.kvasir.engine;

import dev.kvasir.Nullable;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/**
 * The work of one forward pass: parts of prompts, and one token for each decoding sequence.
 *
 * @param parts what is computed of prompts, in the order of admission
 * @param joined how many of the parts, the last ones, are of sequences admitted in this step
 * @param preempted sequences that made room for it
 * @param idle decoding sequences that are left out
 * @param decodes how many sequences get one token
 * @param decodeContextTokens tokens that these have computed so far, all together
 * @param rows these sequences
 */
public record Batch(
    List<Part> parts,
    int joined,
    List<Sequence> preempted,
    List<Sequence> idle,
    int decodes,
    long decodeContextTokens,
    DecodeRows rows) {

  /** Some tokens of a sequence, from {@code start} on. */
  public record Part(Sequence sequence, int start, int tokens) {}

  /** The parts of sequences that were admitted in this step. */
  public List<Part> admissions() {
    return parts.subList(parts.size() - joined, parts.size());
  }

  /** Returns the number of sequences it singles out; all others just get their next token. */
  public int changes() {
    return parts.size() + preempted.size() + idle.size();
  }

  public boolean isEmpty() {
    return parts.isEmpty() && decodes == 0;
  }

  /**
   * The sequences that get one token in a step, in the order of admission.
   *
   * <p>They are found by walking; code that does not walk pays nothing. They stay as they are until
   * the step is over.
   */
  public static final class DecodeRows implements Iterable<DecodeRows.Row> {
    /** A sequence, and the position of the token that is computed. */
    public record Row(Sequence sequence, int position) {}

    private final SchedulerState state;

    DecodeRows(SchedulerState state) {
      this.state = state;
    }

    @Override
    public Iterator<Row> iterator() {
      return new Walk(state.running.first());
    }

    private final class Walk implements Iterator<Row> {
      private @Nullable Sequence next;

      Walk(@Nullable Sequence first) {
        this.next = first;
        skip();
      }

      private void skip() {
        for (var each = next; each != null; each = each.after) {
          if (each.decoding && !each.idle) {
            next = each;
            return;
          }
        }
        next = null;
      }

      @Override
      public boolean hasNext() {
        return next != null;
      }

      @Override
      public Row next() {
        var sequence = next;
        if (sequence == null) throw new NoSuchElementException("no row behind the last");
        next = sequence.after;
        skip();
        return new Row(sequence, state.computed(sequence));
      }
    }
  }
}
