package dev.kvasir.model.sample;

import java.util.List;

/**
 * The token that was chosen.
 *
 * @param logprob the logarithm of its probability before penalties and temperature; 0 unless asked
 * @param alternatives the likeliest tokens, likeliest first, as many as were asked for
 */
public record TokenChoice(int token, double logprob, List<Alternative> alternatives) {
  public TokenChoice {
    alternatives = List.copyOf(alternatives);
  }

  /** A token that might have been chosen, and the logarithm of its probability. */
  public record Alternative(int token, double logprob) {}
}
