package dev.kvasir.router;

import dev.kvasir.router.view.SloTargets;

/**
 * One request, or its prefill, on the books of an instance.
 *
 * <pre>
 *   WAITING --prefill--> PREFILLING --decode--> DECODING --close--> CLOSED
 *      |                      ^-----prefill--------'^
 *      '---------------decode-----------------------'
 * </pre>
 *
 * It is closed from any state, once. One that was taken to decode before any token came goes back
 * to its prefill when that has to be done after all.
 */
final class LedgerEntry {
  /** Part of a request that an entry stands for. */
  enum Part {
    PREFILL,
    WHOLE
  }

  enum State {
    WAITING,
    PREFILLING,
    DECODING,
    CLOSED
  }

  private final Ledger ledger;
  private final Part part;
  private final int promptTokens;
  private final long openedNanos;
  private State state = State.WAITING;
  private int tokens;
  private long work;
  private long prefillNanos;
  private long emittedTokens;
  private int place;

  LedgerEntry(Ledger ledger, Part part, int promptTokens, long openedNanos) {
    this.ledger = ledger;
    this.part = part;
    this.promptTokens = promptTokens;
    this.openedNanos = openedNanos;
  }

  /** It will be prefilled here. */
  void prefill(int tokens, long work, long nowNanos) {
    if (state == State.DECODING && emittedTokens == 0) {
      ledger.removeStream(this);
      ledger.addContext(-promptTokens);
    } else if (state != State.WAITING) {
      throw new IllegalStateException("prefill of " + this);
    }
    state = State.PREFILLING;
    this.tokens = tokens;
    this.work = work;
    this.prefillNanos = nowNanos;
    ledger.addPrefill(this, nowNanos);
  }

  /** Its first token has come. */
  void decode() {
    if (part != Part.WHOLE || state == State.DECODING || state == State.CLOSED) {
      throw new IllegalStateException("first token of " + this);
    }
    if (state == State.PREFILLING) ledger.removePrefill(this);
    state = State.DECODING;
    ledger.addStream(this);
    ledger.addContext(promptTokens);
  }

  /** More tokens have come. */
  void emit(int count) {
    if (state != State.DECODING || count < 0) {
      throw new IllegalStateException(count + " tokens of " + this);
    }
    emittedTokens += count;
    ledger.addContext(count);
  }

  /** It has ended, well or not. */
  void close() {
    switch (state) {
      case WAITING -> {}
      case PREFILLING -> ledger.removePrefill(this);
      case DECODING -> {
        ledger.removeStream(this);
        ledger.addContext(-promptTokens - emittedTokens);
      }
      case CLOSED -> throw new IllegalStateException("second end of " + this);
    }
    state = State.CLOSED;
    ledger.end(part);
  }

  State state() {
    return state;
  }

  int tokens() {
    return tokens;
  }

  long work() {
    return work;
  }

  long prefillNanos() {
    return prefillNanos;
  }

  int place() {
    return place;
  }

  void moveTo(int newPlace) {
    this.place = newPlace;
  }

  double slackSeconds(long nowNanos, SloTargets targets) {
    return targets.slackSeconds(promptTokens, emittedTokens, nowNanos - openedNanos);
  }

  @Override
  public String toString() {
    return "%s of %d prompt tokens, %s, %d to compute, %d emitted"
        .formatted(part, promptTokens, state, tokens, emittedTokens);
  }
}
