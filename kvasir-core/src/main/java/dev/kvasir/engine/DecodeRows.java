package dev.kvasir.engine;

import dev.kvasir.Nullable;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The sequences that get one token in a step, in the order of admission.
 *
 * <p>They are found by walking, which costs those nothing who do not walk. They stay as they are
 * until the step is over.
 */
public final class DecodeRows implements Iterable<DecodeRows.Row> {
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
