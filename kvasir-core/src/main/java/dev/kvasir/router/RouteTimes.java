package dev.kvasir.router;

/**
 * When the stages of a request were reached, in nanoseconds of the loop; {@link #NEVER} for those
 * that were not.
 *
 * @param opened when the router placed it, logged as {@code t_proxy_recv}
 * @param prefillSent its {@code t_prefill_sent}
 * @param prefillDone its {@code t_prefill_done}
 * @param firstToken its {@code t_first_token}
 * @param done its {@code t_done}
 */
public record RouteTimes(
    long opened, long prefillSent, long prefillDone, long firstToken, long done) {
  public static final long NEVER = -1;

  static RouteTimes opened(long nanos) {
    return new RouteTimes(nanos, NEVER, NEVER, NEVER, NEVER);
  }

  RouteTimes prefillSent(long nanos) {
    return new RouteTimes(opened, nanos, prefillDone, firstToken, done);
  }

  RouteTimes prefillDone(long nanos) {
    return new RouteTimes(opened, prefillSent, nanos, firstToken, done);
  }

  RouteTimes firstToken(long nanos) {
    return new RouteTimes(opened, prefillSent, prefillDone, nanos, done);
  }

  RouteTimes done(long nanos) {
    return new RouteTimes(opened, prefillSent, prefillDone, firstToken, nanos);
  }
}
