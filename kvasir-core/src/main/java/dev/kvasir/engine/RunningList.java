package dev.kvasir.engine;

import dev.kvasir.Nullable;

/** The sequences of the batch, in the order of their admission. */
final class RunningList {
  private @Nullable Sequence first;
  private @Nullable Sequence last;
  private int size;

  int size() {
    return size;
  }

  @Nullable
  Sequence first() {
    return first;
  }

  @Nullable
  Sequence last() {
    return last;
  }

  void add(Sequence sequence) {
    sequence.before = last;
    sequence.after = null;
    if (last == null) first = sequence;
    else last.after = sequence;
    last = sequence;
    size++;
  }

  void remove(Sequence sequence) {
    var before = sequence.before;
    var after = sequence.after;
    if (before == null) first = after;
    else before.after = after;
    if (after == null) last = before;
    else after.before = before;
    sequence.before = null;
    sequence.after = null;
    size--;
  }
}
