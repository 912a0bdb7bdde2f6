package dev.kvasir.sim.blis;

import dev.kvasir.Nullable;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.EngineSettings.Victim;
import dev.kvasir.kv.name.BlockNames;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * Forms batches by the rules of BLIS, where they differ from those of a sound engine: a prompt that
 * is cached whole costs nothing and holds no block; a preempted request forgets its output and
 * samples it again; and blocks are taken row by row, so that a victim further ahead has taken
 * blocks in this step, and what they held before is lost.
 */
final class BlisScheduler {
  private final BlisStore store;
  private final EngineSettings settings;
  private final TreeSet<Row> waiting;
  private final List<Row> running = new ArrayList<>();
  private int tokensLeft;
  private long lastTurn;
  private long firstTurn;
  private long preemptions;

  BlisScheduler(BlisStore store, EngineSettings settings) {
    this.store = store;
    this.settings = settings;
    this.waiting = new TreeSet<>(order(settings));
  }

  private static Comparator<Row> order(EngineSettings settings) {
    Comparator<Row> first =
        switch (settings.order()) {
          case FIRST_COME -> Comparator.comparingLong(each -> each.turn);
          case PRIORITY -> Comparator.comparingInt(each -> each.priority);
          case SHORTEST_PROMPT -> Comparator.comparingInt(Row::promptTokens);
          case REVERSE_PRIORITY -> Comparator.comparingInt(each -> -each.priority);
        };
    return first
        .thenComparingLong(each -> each.tracked.request.arrivalNanos())
        .thenComparing(each -> each.tracked.request.id());
  }

  /** Returns whether the request can never be served. */
  boolean refuses(Tracked tracked) {
    int prompt = tracked.request.promptTokens();
    long all = (long) prompt + tracked.request.outputTokens();
    int context = settings.contextTokensMax();
    if (context > 0 && (prompt >= context || all > context)) return true;
    return Math.ceilDiv(prompt, store.blockTokens()) > store.total();
  }

  Row add(Tracked tracked, BlockNames names, int priority) {
    var row = new Row(tracked, names, priority, endTokens(tracked));
    row.turn = ++lastTurn;
    waiting.add(row);
    return row;
  }

  /** The last token of a full context is sampled and never computed. */
  private int endTokens(Tracked tracked) {
    var request = tracked.request;
    int end = request.promptTokens() + Math.max(1, request.outputTokens()) - 1;
    int context = settings.contextTokensMax();
    return context > 0 ? Math.min(end, context - 1) : end;
  }

  void remove(Row row) {
    if (!running.remove(row)) waiting.remove(row);
    row.release();
  }

  /** Takes the blocks of the next step. */
  Step schedule() {
    long before = preemptions;
    tokensLeft = settings.stepTokensMax();
    for (var row : running) row.tokens = 0;
    grow();
    int rows = running.size();
    if (preemptions == before) admit();
    return new Step(List.copyOf(running), rows);
  }

  /** Those that run, in the order of admission, until one of them has to go itself. */
  private void grow() {
    for (int place = 0; place < running.size() && tokensLeft > 0; place++) {
      var row = running.get(place);
      int tokens = row.isDecoding() ? 1 : chunk(row.promptTokens() - row.computed);
      int blocks = blocks(row.computed + tokens) - blocks(row.computed);
      while (blocks > store.available()) {
        int worst = victim();
        if (worst < place) place--;
        if (preempt(worst) == row) return;
      }
      reserve(row, tokens);
    }
  }

  private void reserve(Row row, int tokens) {
    // A token that fits into the last block is counted when a block ends.
    boolean isCounted = !row.isDecoding() || row.computed % store.blockTokens() == 0;
    if (isCounted) row.span().reserve(row.computed + tokens);
    row.tokens = tokens;
    tokensLeft -= tokens;
  }

  private int chunk(int tokens) {
    int most = settings.chunkTokensMax();
    return Math.min(most > 0 ? Math.min(tokens, most) : tokens, tokensLeft);
  }

  private int blocks(int tokens) {
    return Math.ceilDiv(tokens, store.blockTokens());
  }

  private int victim() {
    int worst = running.size() - 1;
    if (settings.victim() == Victim.NEWEST) return worst;
    for (int place = worst - 1; place >= 0; place--) {
      if (running.get(place).isWorseThan(running.get(worst))) worst = place;
    }
    return worst;
  }

  private Row preempt(int place) {
    var victim = running.remove(place);
    tokensLeft += victim.tokens;
    victim.release();
    victim.turn = --firstTurn;
    waiting.add(victim);
    preemptions++;
    return victim;
  }

  private void admit() {
    while (running.size() < settings.sequencesMax() && !waiting.isEmpty() && tokensLeft > 0) {
      var row = waiting.first();
      var match = store.match(row.names, row.promptTokens() / store.blockTokens());
      int start = match.blocks() * store.blockTokens();
      int tokens = chunk(row.promptTokens() - start);
      int blocks = blocks(start + tokens) - match.blocks() + match.idle();
      if (blocks > store.available()) return;
      waiting.remove(row);
      running.add(row);
      row.span = store.open(row.names, tokens == 0 ? 0 : match.blocks());
      row.span.endPromptAt(row.promptTokens());
      row.computed = start;
      if (tokens > 0) row.span.reserve(start + tokens);
      row.tokens = tokens;
      tokensLeft -= tokens;
    }
  }

  /** Counts what the step has computed, and returns who has a first token from it. */
  List<Row> complete(Step step) {
    var prefilled = new ArrayList<Row>();
    for (int place = 0; place < step.rows.size(); place++) {
      var row = step.rows.get(place);
      boolean isPrompt = !row.isDecoding && (row.tokens > 0 || step.isJoining(place));
      if (row.tokens == 0 && !isPrompt) continue;
      row.computed += row.tokens;
      if (isPrompt || row.computed % store.blockTokens() == 0) row.span().fill(row.computed);
      if (isPrompt && row.computed >= row.promptTokens()) {
        row.isDecoding = true;
        prefilled.add(row);
      }
    }
    return prefilled;
  }

  int waiting() {
    return waiting.size();
  }

  int running() {
    return running.size();
  }

  /** Returns the number of times that a request had to make room. */
  long preemptions() {
    return preemptions;
  }

  /** One request in the queue or the batch. */
  static final class Row {
    final Tracked tracked;
    private final BlockNames names;
    private final int priority;
    private final int endTokens;
    private long turn;
    private @Nullable BlisSpan span;
    private boolean isDecoding;

    /** Number of its tokens that are computed, and of those that the step that runs computes. */
    private int computed;

    private int tokens;

    private Row(Tracked tracked, BlockNames names, int priority, int endTokens) {
      this.tracked = tracked;
      this.names = names;
      this.priority = priority;
      this.endTokens = endTokens;
    }

    int promptTokens() {
      return tracked.request.promptTokens();
    }

    int computed() {
      return computed;
    }

    /** Returns the number of tokens that the step that runs computes. */
    int tokens() {
      return tokens;
    }

    boolean isDecoding() {
      return isDecoding;
    }

    boolean isOver() {
      return isDecoding && computed >= endTokens;
    }

    BlisSpan span() {
      var held = span;
      if (held == null) throw new IllegalStateException(tracked.request + " holds no blocks");
      return held;
    }

    private void release() {
      if (span != null) span.release();
      span = null;
      isDecoding = false;
      computed = 0;
      tokens = 0;
    }

    private boolean isWorseThan(Row other) {
      if (priority != other.priority) return priority > other.priority;
      return tracked.request.arrivalNanos() > other.tracked.request.arrivalNanos();
    }
  }

  /**
   * One step.
   *
   * @param rows the batch, in the order of admission
   * @param joining the place of the first that joins with this step
   */
  record Step(List<Row> rows, int joining) {
    boolean isJoining(int place) {
      return place >= joining;
    }
  }
}
