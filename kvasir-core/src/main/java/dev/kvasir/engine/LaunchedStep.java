package dev.kvasir.engine;

import dev.kvasir.kv.KvSpan;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The blocks that are full when a step lands that is on its way. Until then only the sequences that
 * they were computed for hold them, and nobody can find them.
 */
final class LaunchedStep {
  private record Fill(KvSpan span, int end) {}

  private final Map<Sequence, Fill> fills = new LinkedHashMap<>();

  /** Blocks of sequences that have left since, given back when the step is over. */
  private final List<Runnable> leaving = new ArrayList<>();

  /** Blocks of the sequence are full, up to that position, when this lands. */
  void fill(Sequence sequence, int end) {
    if (sequence.spoilt) return;
    var span = sequence.blocks();
    if (span.launch(end)) fills.put(sequence, new Fill(span, end));
  }

  /** Forgets a sequence whose results are void, or whose blocks were given to others. */
  void forget(Sequence sequence) {
    fills.remove(sequence);
  }

  /** Gives blocks back: at once, or after they are filled. */
  void giveBack(Sequence sequence, Runnable blocks) {
    if (fills.containsKey(sequence)) leaving.add(blocks);
    else blocks.run();
  }

  /** It has landed: its blocks are there for everybody. */
  void land() {
    for (var fill : fills.values()) fill.span.fill(fill.end);
    leaving.forEach(Runnable::run);
  }

  /** It has failed: its blocks were never filled. */
  void fail() {
    fills.clear();
    leaving.forEach(Runnable::run);
  }
}
