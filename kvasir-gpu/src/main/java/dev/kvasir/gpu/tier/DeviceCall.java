package dev.kvasir.gpu.tier;

import dev.kvasir.Nullable;
import dev.kvasir.gpu.CopyShape;
import dev.kvasir.gpu.Direction;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.CopyOutcome.Failed;
import dev.kvasir.offload.store.CopyOutcome.Refused;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * One call to a device store: the slots to copy, of which the GPU's thread takes a few at a time.
 *
 * <p>The loop's thread fills it and reads its outcome; the GPU's thread uses it in between.
 */
final class DeviceCall {
  private static final int SORTED_TOGETHER = 4096;

  final Direction direction;
  final Consumer<List<CopyOutcome>> done;
  private final List<BlockCopy> copies;
  private final @Nullable String[] refusals;
  private final boolean[] accepted;
  private final long[] pairs;
  private int count;
  private int sorted;
  private int reserved;
  private int underWay;
  private @Nullable String failure;

  DeviceCall(Direction direction, List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    this.direction = direction;
    this.copies = List.copyOf(copies);
    this.done = done;
    this.pairs = new long[copies.size()];
    this.refusals = new String[copies.size()];
    this.accepted = new boolean[copies.size()];
  }

  List<BlockCopy> copies() {
    return copies;
  }

  void accept(int index) {
    var copy = copies.get(index);
    accepted[index] = true;
    pairs[count++] = CopyShape.pair(copy.above(), copy.below());
  }

  void refuse(int index, String reason) {
    refusals[index] = reason;
  }

  boolean isAccepted(int index) {
    return accepted[index];
  }

  /** Returns how many copies the call is to make. */
  int count() {
    return count;
  }

  /**
   * The slots, of which those before an index are such that what lies side by side on the host
   * stands side by side: sorted some at a time, so that the first need not wait for the last.
   */
  long[] pairs(int until) {
    while (sorted < until) {
      int next = Math.min(count, sorted + SORTED_TOGETHER);
      Arrays.sort(pairs, sorted, next);
      sorted = next;
    }
    return pairs;
  }

  /** Returns the number of copies reserved, which is the index of the next. */
  int reserved() {
    return reserved;
  }

  int left() {
    return count - reserved;
  }

  /** Reserves the next copies; returns the index of the first. */
  int reserve(int copies) {
    int first = reserved;
    reserved += copies;
    underWay += copies;
    return first;
  }

  void finish(int copies) {
    underWay -= copies;
  }

  /** Takes no more: what is not under way is not copied. */
  void fail(String reason) {
    if (failure == null) failure = reason;
    reserved = count;
  }

  boolean isOver() {
    return reserved == count && underWay == 0;
  }

  boolean hasFailed() {
    return failure != null;
  }

  /** One outcome for each copy; where a part has failed, none counts as copied. */
  List<CopyOutcome> outcomes() {
    CopyOutcome made = failure == null ? CopyOutcome.COPIED : new Failed(failure);
    if (count == copies.size()) return Collections.nCopies(count, made);
    var outcomes = new ArrayList<CopyOutcome>(copies.size());
    for (var reason : refusals) outcomes.add(reason == null ? made : new Refused(reason));
    return outcomes;
  }
}
