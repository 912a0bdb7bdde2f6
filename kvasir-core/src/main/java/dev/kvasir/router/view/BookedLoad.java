package dev.kvasir.router.view;

/**
 * Load that one gateway has booked on an instance.
 *
 * @param inFlight requests dispatched and not yet ended
 * @param prefills those whose prefill runs or waits there
 * @param prefillTokens tokens they have to compute
 * @param prefillWork the same in units of work, see {@link Estimates#work}
 * @param streams requests that decode there
 * @param contextTokens prompts and answers of those, so far
 * @param placements prefills there for requests that decode elsewhere
 * @param recentWork work dispatched there lately, done or not
 */
public record BookedLoad(
    int inFlight,
    int prefills,
    long prefillTokens,
    long prefillWork,
    int streams,
    long contextTokens,
    int placements,
    long recentWork) {
  public static final BookedLoad NONE = new BookedLoad(0, 0, 0, 0, 0, 0, 0, 0);

  public BookedLoad {
    if (inFlight < 0 || prefills < 0 || streams < 0 || placements < 0) {
      throw new IllegalArgumentException(
          "%d in flight, %d prefills, %d streams, %d placements"
              .formatted(inFlight, prefills, streams, placements));
    }
    if (prefillTokens < 0 || prefillWork < 0 || contextTokens < 0 || recentWork < 0) {
      throw new IllegalArgumentException(
          "%d tokens to prefill, work %d, recent work %d, context of %d tokens"
              .formatted(prefillTokens, prefillWork, recentWork, contextTokens));
    }
  }

  public BookedLoad plus(BookedLoad other) {
    return new BookedLoad(
        inFlight + other.inFlight,
        prefills + other.prefills,
        prefillTokens + other.prefillTokens,
        prefillWork + other.prefillWork,
        streams + other.streams,
        contextTokens + other.contextTokens,
        placements + other.placements,
        recentWork + other.recentWork);
  }

  /** Returns what is left of it without a load that is part of it. */
  public BookedLoad minus(BookedLoad part) {
    return new BookedLoad(
        inFlight - part.inFlight,
        prefills - part.prefills,
        prefillTokens - part.prefillTokens,
        prefillWork - part.prefillWork,
        streams - part.streams,
        contextTokens - part.contextTokens,
        placements - part.placements,
        recentWork - part.recentWork);
  }

  /** Returns whether the same requests are booked; how long their answers are does not count. */
  public boolean hasSameRequests(BookedLoad other) {
    return inFlight == other.inFlight
        && prefills == other.prefills
        && prefillTokens == other.prefillTokens
        && prefillWork == other.prefillWork
        && streams == other.streams
        && placements == other.placements;
  }
}
