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
}
