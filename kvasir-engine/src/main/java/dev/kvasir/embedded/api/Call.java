package dev.kvasir.embedded.api;

import dev.kvasir.model.sample.SamplingSettings;
import java.util.List;

/**
 * A request for an answer, as far as an engine minds it.
 *
 * @param model the model that is asked for; empty for whichever there is
 * @param tokensMax how long the answer may be; 0 for as long as there is room
 * @param tokensMin from how many tokens on the model may end the answer itself
 * @param ignoresEnd whether the model cannot end the answer at all
 * @param logprobs how many likeliest tokens to name beside each; {@link #NO_LOGPROBS} for none
 * @param stream how the answer is to be sent
 * @param salt what the request's blocks are named with besides its tenant's salt
 * @param handover what is to become of the prompt's blocks
 */
public record Call(
    String model,
    Prompt prompt,
    int tokensMax,
    int tokensMin,
    boolean ignoresEnd,
    SamplingSettings sampling,
    int logprobs,
    List<String> stops,
    Stream stream,
    String salt,
    int priority,
    Handover handover) {
  /** Nothing is told of how likely tokens were. */
  public static final int NO_LOGPROBS = -1;

  /** Way in which an answer is sent. */
  public enum Stream {
    /** Whole. */
    NONE,
    /** Piece by piece. */
    PIECES,
    /** Piece by piece, and behind them what it took. */
    PIECES_AND_USAGE
  }

  /** Handover of the blocks of the prompt. */
  public enum Handover {
    /** Nothing but what the tiers do. */
    NONE,
    /** Another engine goes on from here: it must find them. */
    GIVE,
    /** Another engine has computed them. */
    TAKE
  }

  public Call {
    stops = List.copyOf(stops);
  }

  public boolean isChat() {
    return prompt instanceof Prompt.Chat;
  }
}
