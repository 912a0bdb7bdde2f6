package dev.kvasir.embedded.step;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.model.sample.SamplingSettings;
import dev.kvasir.net.openai.SessionHint;
import java.util.List;

/**
 * Request to an engine: the tokens to go on from, and how.
 *
 * @param salt salt with which only this tenant's blocks are named; empty where all may share
 * @param prompt the tokens to go on from, at least one
 * @param names names of the first blocks of the prompt, as far as somebody has hashed them
 * @param tokensMin number of tokens from which on the model may end the answer itself
 * @param tokensMax number of tokens that the answer has at most
 * @param stops strings that end the answer, and do not belong to it
 * @param priority smaller is more urgent
 * @param hint hint of the caller about the conversation
 */
@SuppressWarnings("ArrayRecordComponent")
public record GenerationRequest(
    String id,
    String salt,
    int[] prompt,
    List<BlockHash> names,
    int tokensMin,
    int tokensMax,
    SamplingSettings sampling,
    List<String> stops,
    int priority,
    SessionHint hint) {
  /** A request of which nothing is said but what it asks for. */
  public GenerationRequest(
      String id,
      String salt,
      int[] prompt,
      int tokensMin,
      int tokensMax,
      SamplingSettings sampling,
      List<String> stops,
      int priority) {
    this(
        id,
        salt,
        prompt,
        List.of(),
        tokensMin,
        tokensMax,
        sampling,
        stops,
        priority,
        SessionHint.NONE);
  }

  public GenerationRequest {
    if (prompt.length == 0) throw new IllegalArgumentException("the prompt has no tokens");
    if (tokensMax < 1) {
      throw new IllegalArgumentException(
          "an answer of at most " + tokensMax + " tokens, expected at least 1");
    }
    if (tokensMin < 0 || tokensMin > tokensMax) {
      throw new IllegalArgumentException(
          "an answer of at least " + tokensMin + " and at most " + tokensMax + " tokens");
    }
    names = List.copyOf(names);
    stops = List.copyOf(stops);
  }

  /** Returns this request with the given session hint. */
  public GenerationRequest withHint(SessionHint given) {
    return new GenerationRequest(
        id, salt, prompt, names, tokensMin, tokensMax, sampling, stops, priority, given);
  }

  /** This request, of whose blocks these names are known. */
  public GenerationRequest named(List<BlockHash> known) {
    return new GenerationRequest(
        id, salt, prompt, known, tokensMin, tokensMax, sampling, stops, priority, hint);
  }

  /** A request of the usual urgency that shares with everybody. */
  public static GenerationRequest of(
      String id, int[] prompt, int tokensMax, SamplingSettings sampling) {
    return new GenerationRequest(id, "", prompt, 0, tokensMax, sampling, List.of(), 0);
  }
}
