package dev.kvasir.embedded.step;

import dev.kvasir.Nullable;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.SequenceListener;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockHasher;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.kv.name.TokenSequence;
import dev.kvasir.model.ModelShape;
import dev.kvasir.model.sample.TokenChoice;
import dev.kvasir.model.sample.TokenHistory;
import dev.kvasir.text.StopStrings;
import dev.kvasir.text.TextStream;
import dev.kvasir.text.Tokenizer;

/**
 * One answer in the making: its tokens, and the text they come to. Belongs to the engine's loop;
 * while a step runs only its history is read elsewhere.
 */
public final class Generation implements BlockNames, SequenceListener {
  private final GenerationRequest request;
  private final GenerationListener listener;
  private final int endOfTurn;
  private final TokenSequence tokens;
  private final TokenHistory history;
  private final TextStream text;
  private final StopStrings stops;
  private @Nullable Sequence sequence;
  private @Nullable Piece piece;
  private int answered;
  private int cachedTokens;
  private CachedBlocks cached = CachedBlocks.NONE;
  private boolean admitted;
  private boolean stopped;

  /** Tokens that steps on their way will bring. */
  private int pending;

  private boolean over;

  public Generation(
      GenerationRequest request,
      GenerationListener listener,
      Tokenizer tokenizer,
      BlockHasher hasher) {
    this.request = request;
    this.listener = listener;
    this.endOfTurn = tokenizer.endOfTurn();
    this.tokens = new TokenSequence(hasher, ModelShape.BLOCK_TOKENS);
    this.history = new TokenHistory(tokenizer.size());
    this.text = new TextStream(tokenizer);
    this.stops = new StopStrings(request.stops());
    var _ = tokens.begin(request.prompt(), request.names());
    history.prompt(request.prompt());
  }

  public GenerationRequest request() {
    return request;
  }

  /** Returns what the answer took so far. */
  public GenerationUsage usage() {
    int preemptions = sequence == null ? 0 : sequence.preemptions();
    return new GenerationUsage(
        request.prompt().length, cachedTokens, cached, answered, preemptions);
  }

  @Override
  public BlockHash name(int index) {
    return tokens.hashes().get(index);
  }

  @Override
  public TokenBlock block(int index) {
    return tokens.block(index);
  }

  /** Returns the number of tokens that are known, those of the prompt among them. */
  int length() {
    return tokens.length();
  }

  /** The same with those that steps on their way will bring. */
  int lengthAhead() {
    return tokens.length() + pending;
  }

  /** A step is on its way that brings a token. */
  void launched() {
    pending++;
  }

  /** A step that was to bring a token is over. */
  void landed() {
    pending--;
  }

  /**
   * Returns whether the answer has stopped, or its end was told, so that what still comes is for
   * nobody.
   */
  boolean isOver() {
    return over || stopped;
  }

  int[] tokens(int from, int to) {
    return tokens.tokens(from, to);
  }

  TokenHistory history() {
    return history;
  }

  public void begin(Sequence sequence) {
    this.sequence = sequence;
  }

  public Sequence sequence() {
    var begun = sequence;
    if (begun == null) throw new IllegalStateException(this + " has not begun");
    return begun;
  }

  /** Adds the next token; returns whether it ends the answer before its maximum length. */
  boolean add(TokenChoice choice) {
    int token = choice.token();
    answered++;
    tokens.append(token);
    history.answer(token);
    boolean over = token == endOfTurn && answered >= request.tokensMin();
    var more = new StringBuilder(stops.push(text.push(token)));
    stopped = over || stops.stopped();
    if (over || (!stopped && answered == request.tokensMax())) {
      more.append(stops.push(text.finish()));
      if (!stops.stopped()) more.append(stops.finish());
    }
    piece = new Piece(choice, more.toString());
    return stopped;
  }

  @Override
  public void admitted(Sequence sequence) {
    if (admitted) return;
    admitted = true;
    cachedTokens = sequence.cachedTokens();
    cached = sequence.cached();
  }

  @Override
  public void preempted(Sequence sequence) {}

  @Override
  public void prefilled(Sequence sequence) {}

  @Override
  public void sampled(Sequence sequence, int token) {
    var next = piece;
    if (next == null) throw new IllegalStateException(this + " has no piece for " + token);
    piece = null;
    listener.grown(this, next);
  }

  @Override
  public void ended(Sequence sequence, Sequence.End end) {
    var outcome =
        switch (end) {
          case Sequence.End.Finished() ->
              stopped ? new GenerationEnd.Stopped() : new GenerationEnd.Full();
          case Sequence.End.Aborted() -> new GenerationEnd.Aborted();
          case Sequence.End.Refused(String reason) -> new GenerationEnd.Refused(reason);
          case Sequence.End.Failed(String reason) -> new GenerationEnd.Failed(reason);
        };
    fail(outcome);
  }

  /** Ends it, from outside of the engine too. */
  public void fail(GenerationEnd end) {
    over = true;
    listener.ended(this, end);
  }

  @Override
  public String toString() {
    return request.id();
  }
}
