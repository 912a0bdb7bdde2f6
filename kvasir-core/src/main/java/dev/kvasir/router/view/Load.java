package dev.kvasir.router.view;

/**
 * The load of an instance according to its ledger.
 *
 * @param inFlight requests dispatched and not yet ended
 * @param foreign requests that others sent there, by what its engine reported last
 * @param prefills those whose prefill runs or waits there
 * @param prefillTokens tokens they have to compute
 * @param prefillWork the same in units of work, see {@link Estimates#work}
 * @param decodeStreams requests that decode there
 * @param contextTokens prompts and answers of those, so far
 * @param placements prefills there for requests that decode elsewhere
 * @param recentWork work dispatched there lately, done or not
 * @param prefillRate work of the prefills that come there in a second, as a mean over a minute
 * @param slackSeconds how long the most pressed of its streams may be held up; infinite if none is
 */
public record Load(
    int inFlight,
    int foreign,
    int prefills,
    long prefillTokens,
    long prefillWork,
    int decodeStreams,
    long contextTokens,
    int placements,
    long recentWork,
    double prefillRate,
    double slackSeconds) {
  public static final Load NONE = inFlight(0);

  public Load {
    if (inFlight < 0 || foreign < 0 || prefills < 0 || prefillTokens < 0 || prefillWork < 0) {
      throw new IllegalArgumentException(
          "%d in flight, %d of others, %d prefills of %d tokens, work %d"
              .formatted(inFlight, foreign, prefills, prefillTokens, prefillWork));
    }
    if (decodeStreams < 0 || contextTokens < 0 || placements < 0 || recentWork < 0) {
      throw new IllegalArgumentException(
          "%d streams of %d tokens, %d placements, recent work %d"
              .formatted(decodeStreams, contextTokens, placements, recentWork));
    }
  }

  /** A load of which only the number of requests is known. */
  public static Load inFlight(int requests) {
    return new Load(requests, 0, 0, 0, 0, 0, 0, 0, 0, 0, Double.POSITIVE_INFINITY);
  }

  /** The same, with so many requests of others. */
  public Load withForeign(int requests) {
    if (requests == foreign) return this;
    return new Load(
        inFlight,
        requests,
        prefills,
        prefillTokens,
        prefillWork,
        decodeStreams,
        contextTokens,
        placements,
        recentWork,
        prefillRate,
        slackSeconds);
  }

  /** A load of prefill and decode, its work counted in tokens. */
  public static Load of(long prefillTokens, int decodeStreams, long contextTokens) {
    int prefills = prefillTokens == 0 ? 0 : 1;
    return new Load(
        prefills + decodeStreams,
        0,
        prefills,
        prefillTokens,
        prefillTokens,
        decodeStreams,
        contextTokens,
        0,
        0,
        0,
        Double.POSITIVE_INFINITY);
  }

  /** Tokens to be prefilled, and those in the context of decodes. */
  public long ongoingTokens() {
    return prefillTokens + contextTokens;
  }

  public boolean isIdle() {
    return prefillWork == 0 && decodeStreams == 0;
  }
}
