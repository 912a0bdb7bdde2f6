package dev.kvasir.sim.workload;

/**
 * A request as a cluster gets it.
 *
 * @param outputTokens how many the model will generate; with 0 the prompt is all there is to do
 * @param content the prompt is its beginning, and the output what follows
 * @param deadlineNanos when the caller gives up, in the time of arrivals; 0 for never
 */
public record Request(
    String id,
    long arrivalNanos,
    int promptTokens,
    int outputTokens,
    Content content,
    TraceCaller caller,
    Turn turn,
    long deadlineNanos) {
  public Request {
    if (id.isEmpty()) throw new IllegalArgumentException("a request without an id");
    if (arrivalNanos < 0) {
      throw new IllegalArgumentException("request " + id + " arrives at " + arrivalNanos + " ns");
    }
    if (promptTokens <= 0 || outputTokens < 0 || promptTokens + outputTokens < 0) {
      throw new IllegalArgumentException(
          "request " + id + " of " + promptTokens + " and " + outputTokens + " tokens");
    }
    if (deadlineNanos < 0) {
      throw new IllegalArgumentException("request " + id + " due at " + deadlineNanos + " ns");
    }
  }

  /** A request of nobody in particular that stands alone and waits for ever. */
  public static Request of(
      String id, long arrivalNanos, int promptTokens, int outputTokens, Content content) {
    return new Request(
        id, arrivalNanos, promptTokens, outputTokens, content, TraceCaller.ANYBODY, Turn.ALONE, 0);
  }

  /** The same request at another time; the deadline moves along. */
  public Request at(long nanos) {
    long deadline = deadlineNanos == 0 ? 0 : Math.max(1, deadlineNanos - arrivalNanos + nanos);
    return new Request(id, nanos, promptTokens, outputTokens, content, caller, turn, deadline);
  }

  /** The same request in that turn of a conversation. */
  public Request in(Turn place) {
    return new Request(
        id, arrivalNanos, promptTokens, outputTokens, content, caller, place, deadlineNanos);
  }

  /** The same request after another think time. */
  Request thinking(long nanos) {
    return in(new Turn(turn.session(), turn.round(), nanos, turn.expectation()));
  }

  /** The same request with another deadline. */
  public Request due(long nanos) {
    return new Request(id, arrivalNanos, promptTokens, outputTokens, content, caller, turn, nanos);
  }

  /** The same request under another name. */
  public Request named(String name) {
    return new Request(
        name, arrivalNanos, promptTokens, outputTokens, content, caller, turn, deadlineNanos);
  }

  /** Returns how many tokens the model will have seen in the end. */
  public int tokens() {
    return promptTokens + outputTokens;
  }
}
