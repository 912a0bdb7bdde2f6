package dev.kvasir.sim.step;

import dev.kvasir.Nullable;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.SequenceListener;
import dev.kvasir.sim.result.Gaps;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/**
 * The times between the tokens of an engine's sequences.
 *
 * <p>Most rows of a step had their token before with the step before, and are counted together. One
 * by one are counted those whose token before came at another time: they had nothing to do, made
 * room, or waited for a first token to be sent.
 *
 * <pre>
 *   launched - done: prefilled, over - sent, in the order of launch
 * </pre>
 */
public final class TokenTimes {
  private static final long NEVER = Long.MIN_VALUE;

  private final Gaps gaps = new Gaps();
  private final long tokenMicros;
  private final ArrayDeque<Step> unsent = new ArrayDeque<>();

  /** The last token of those that get one with the next step, if not with the step before it. */
  private Map<Sequence, Long> apart = new LinkedHashMap<>();

  /** The last token of those that made room. */
  private final Map<Sequence, Long> away = new LinkedHashMap<>();

  /** Those that made room since the last launch. */
  private final List<Sequence> preempted = new ArrayList<>();

  /** When the tokens of the step before came. */
  private long lastMicros = NEVER;

  /**
   * No tokens yet.
   *
   * @param tokenMicros what a token takes besides its step
   */
  TokenTimes(long tokenMicros) {
    this.tokenMicros = tokenMicros;
  }

  /** A step that is launched and not sent. */
  private static final class Step {
    final int decodes;
    final List<Sequence> idle;
    final List<Sequence> preempted;
    final List<Sequence> prefilledAgain = new ArrayList<>(0);
    final List<Sequence> over = new ArrayList<>(0);

    /** Those whose token is sent apart from the others', in the order of sending. */
    final List<Sent> sent = new ArrayList<>(0);

    Step(Batch batch, List<Sequence> preempted) {
      this.decodes = batch.decodes();
      this.idle = batch.idle();
      this.preempted = preempted;
    }

    /** One whose first token has not left the server yet may be prefilled again. */
    boolean isFirst(Sent token) {
      return token.which == Which.FIRST && !prefilledAgain.contains(token.sequence);
    }
  }

  private record Sent(Sequence sequence, Which which) {}

  /** A token that somebody waits for. */
  public enum Which {
    FIRST,
    LAST
  }

  /** A step begins to be computed. */
  void launched(Batch batch, long nowNanos) {
    if (lastMicros == NEVER) lastMicros = nowNanos / 1000;
    unsent.addLast(new Step(batch, List.copyOf(preempted)));
    preempted.clear();
  }

  /** The token of a sequence is sent apart: the first, or the last. */
  void waits(Sequence sequence, Which which) {
    unsent.getLast().sent.add(new Sent(sequence, which));
  }

  /**
   * The tokens of the oldest step came.
   *
   * @param eachNanos how much later each comes that is sent apart than the one before it
   */
  void sent(long nanos, long eachNanos) {
    var step = unsent.removeFirst();
    long micros = nanos / 1000;
    int rows = step.decodes;
    if (step.preempted.isEmpty() && step.idle.isEmpty() && apart.isEmpty() && away.isEmpty()) {
      if (step.sent.isEmpty()) {
        add(micros - lastMicros, rows);
        lastMicros = micros;
        return;
      }
    }
    for (var each : step.preempted) leave(each);
    var idle = new LinkedHashMap<Sequence, Long>();
    for (var each : step.idle) idle.put(each, before(apart.remove(each)));
    var ends = ends(step, nanos, eachNanos);
    for (var each : apart.entrySet()) {
      add(at(ends.remove(each.getKey()), micros) - each.getValue(), 1);
      rows--;
    }
    for (var each : step.prefilledAgain) {
      var left = away.remove(each);
      if (left != null) add(at(ends.remove(each), micros) - left, 1);
    }
    apart = idle;
    for (long end : ends.values()) add(end - lastMicros, 1);
    add(micros - lastMicros, rows - ends.size());
    begin(step, nanos, eachNanos);
    lastMicros = micros;
  }

  /** When those get their last token whose first one was another. */
  private static Map<Sequence, Long> ends(Step step, long nanos, long eachNanos) {
    var ends = new LinkedHashMap<Sequence, Long>();
    var first = new LinkedHashSet<Sequence>();
    for (int i = 0; i < step.sent.size(); i++) {
      var sent = step.sent.get(i);
      if (step.isFirst(sent)) first.add(sent.sequence);
      else if (sent.which == Which.LAST)
        ends.put(sent.sequence, (nanos + (i + 1) * eachNanos) / 1000);
    }
    ends.keySet().removeAll(first);
    return ends;
  }

  /** From now on it counts when the first tokens came; those that are over do not count. */
  private void begin(Step step, long nanos, long eachNanos) {
    for (int i = 0; i < step.sent.size(); i++) {
      var sent = step.sent.get(i);
      if (eachNanos > 0 && step.isFirst(sent)) {
        apart.put(sent.sequence, (nanos + (i + 1) * eachNanos) / 1000);
      }
    }
    for (var each : step.over) {
      apart.remove(each);
      away.remove(each);
    }
  }

  private void over(Sequence sequence) {
    if (unsent.isEmpty()) away.remove(sequence);
    else unsent.getLast().over.add(sequence);
  }

  private void leave(Sequence sequence) {
    if (!away.containsKey(sequence)) away.put(sequence, before(apart.remove(sequence)));
  }

  private long before(@Nullable Long micros) {
    return micros == null ? lastMicros : micros;
  }

  private static long at(@Nullable Long end, long micros) {
    return end == null ? micros : end;
  }

  private void add(long micros, int tokens) {
    gaps.add(micros + tokenMicros, tokens);
  }

  Gaps gaps() {
    return gaps;
  }

  /** Returns a listener that records token times and passes everything on. */
  SequenceListener observe(SequenceListener listener) {
    return new Observer(listener);
  }

  private final class Observer implements SequenceListener {
    private final SequenceListener listener;
    private boolean begun;

    Observer(SequenceListener listener) {
      this.listener = listener;
    }

    @Override
    public void admitted(Sequence sequence) {
      listener.admitted(sequence);
    }

    @Override
    public void preempted(Sequence sequence) {
      if (begun) preempted.add(sequence);
      listener.preempted(sequence);
    }

    @Override
    public void prefilled(Sequence sequence) {
      if (begun) unsent.getLast().prefilledAgain.add(sequence);
      begun = true;
      listener.prefilled(sequence);
    }

    @Override
    public void sampled(Sequence sequence, int token) {
      listener.sampled(sequence, token);
    }

    @Override
    public void ended(Sequence sequence, Sequence.End end) {
      if (begun) over(sequence);
      listener.ended(sequence, end);
    }
  }
}
