package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.KvMatch;
import dev.kvasir.kv.KvSpan;

/**
 * One request inside the engine: how far it is computed, and the blocks that hold it.
 *
 * <p>While it is decoding it counts its tokens by the clock of the {@link DecodeRing}, so that a
 * step need not touch it.
 */
public final class Sequence {
  /** Progress of a sequence. */
  public enum State {
    /** It waits for its turn. */
    WAITING,
    /** Its blocks are on their way up from a slower tier. */
    FETCHING,
    /** It is part of the batch. */
    RUNNING,
    /** Its last step is on its way: it has left the batch, and is over when the step lands. */
    LANDING,
    /** It is over, however it ended. */
    ENDED
  }

  private static final long NEVER = -1;

  private final SequenceRequest request;
  private final int endTokens;

  State state = State.WAITING;
  @Nullable KvSpan span;
  boolean fetched;
  boolean decoding;

  /** It is decoding, and its blocks are taken together with those of others. */
  boolean together;

  /** It is decoding, and the step that runs has nothing for it. */
  boolean idle;

  /** A step of it has failed: what is computed for it counts no more. */
  boolean spoilt;

  /** Listener of the sequence; null where nobody serves it. */
  @Nullable SequenceListener listener;

  /** The sequences that were taken on before and after it. */
  @Nullable Sequence older;

  @Nullable Sequence younger;

  /** Number of tokens of its prompt that the step that runs computes. */
  int part;

  /** Number of tokens behind its cached blocks that came along with it; lost with its blocks. */
  int tail;

  /** Its place in the order of arrival. */
  long turn;

  /** Cached part of it that {@link PrefixMatches} keeps while it waits. */
  @Nullable KvMatch match;

  /** Number of first blocks that this rests on, and the version of the memory it was true at. */
  int matchBlocks;

  long matchVersion;

  /**
   * The number of those behind it that were served while its blocks found no room on the way up.
   */
  int overtaken;

  int computed;
  int kept;
  long rank = NEVER;
  long offset;
  @Nullable Sequence before;
  @Nullable Sequence after;
  private int cachedTokens;
  private CachedBlocks cached = CachedBlocks.NONE;
  private int preemptions;

  Sequence(SequenceRequest request, EngineSettings settings) {
    this.request = request;
    this.tail = request.tailTokens();
    int end = request.promptTokens() + Math.max(1, request.outputTokensMax()) - 1;
    this.endTokens = settings.clipToContext(end);
  }

  public SequenceRequest request() {
    return request;
  }

  public State state() {
    return state;
  }

  /** Tokens that needed no computing at its last admission. */
  public int cachedTokens() {
    return cachedTokens;
  }

  /** Returns the blocks of these tokens, by the tier where they were found. */
  public CachedBlocks cached() {
    return cached;
  }

  /** Returns the number of times that it had to make room for others. */
  public int preemptions() {
    return preemptions;
  }

  /** Returns the number of tokens that are computed when the last token of the output is known. */
  int endTokens() {
    return endTokens;
  }

  /**
   * Returns the number of tokens to compute before the next one can be sampled for the first time.
   */
  int prefillTokens() {
    return request.promptTokens() + kept;
  }

  /** The blocks that hold it. */
  public KvSpan blocks() {
    var held = span;
    if (held == null) throw new IllegalStateException(this + " holds no blocks");
    return held;
  }

  void admit(long place, KvSpan held, int tokens) {
    state = State.RUNNING;
    overtaken = 0;
    rank = place;
    span = held;
    computed = tokens;
    cachedTokens = tokens;
    cached = held.cached();
  }

  /** Gives up everything that was computed; what was sampled stays known, as many as said. */
  void preempt(int sampled) {
    leave();
    state = State.WAITING;
    kept = sampled;
    preemptions++;
  }

  /**
   * Ends, with that many tokens of output, and gives its blocks back; those that a step on its way
   * fills, when that is over.
   */
  void end(int outputTokens, @Nullable LaunchedStep launched) {
    var held = span;
    span = null;
    if (held == null || launched == null) {
      if (held != null) end(held, outputTokens);
    } else {
      launched.giveBack(this, () -> end(held, outputTokens));
    }
    leave();
  }

  private void end(KvSpan held, int outputTokens) {
    held.ended(outputTokens, request.hint());
    held.release();
  }

  /** Gives its blocks back. */
  void leave() {
    var held = span;
    if (held != null) held.release();
    span = null;
    decoding = false;
    idle = false;
    part = 0;
    tail = 0;
    computed = 0;
    fetched = false;
    rank = NEVER;
  }

  @Override
  public String toString() {
    return request.id() + " " + state;
  }

  /** Outcome of a sequence. */
  public sealed interface End {
    /** It has all its tokens. */
    record Finished() implements End {}

    /** The caller gave it up. */
    record Aborted() implements End {}

    /** The model could not go on with it. */
    record Failed(String reason) implements End {}

    /** It can never be served. */
    record Refused(String reason) implements End {}
  }
}
