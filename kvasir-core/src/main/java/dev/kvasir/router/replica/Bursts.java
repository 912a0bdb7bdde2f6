package dev.kvasir.router.replica;

/**
 * Makes gateways that get requests at the same moment place them one after the other, so that each
 * knows the placements of those before it: otherwise all choose the same workers.
 *
 * <pre>
 *   own first request
 *   |--- half a delay ---|--------- company ---------|--------- usual ---------|
 *   |<- turn of rank 1 ->|
 *   |<----------- turn of rank 2 ------------>|
 * </pre>
 *
 * <p>A gateway measures the delay of messages by its own. It counts the placements of the others
 * within one delay of its own placements, and in the delay after that. Only if the first count is
 * much higher, requests come in bursts. Then a request waits for the turn of its gateway, in the
 * order of their names: a little more than one delay for each gateway before it, at most 50 ms.
 * Requests that come one by one never wait.
 *
 * <p>It belongs to the loop of the flow.
 */
final class Bursts {
  private static final double AVERAGED = 16;

  /** A turn, in delays: some news are later than others. */
  private static final double TURN = 1.1;

  /** Latest time of the last turn: to wait longer costs more than it is worth. */
  private static final double WAIT_NANOS_MAX = 50e6;

  private final long paceNanos;
  private long timedNumber;
  private long timedNanos;
  private double delayNanos;

  /** When this gateway was asked for the first request of what may be a burst. */
  private long begunNanos = Long.MIN_VALUE / 2;

  /** For how long the others are counted then, and afterwards once more. */
  private double spanNanos;

  private int othersThen;
  private int othersLater;
  private double company;
  private double usual;

  /**
   * @param paceNanos how long news wait before they are sent
   */
  Bursts(long paceNanos) {
    this.paceNanos = paceNanos;
  }

  /** A message of this gateway is on its way. */
  void sent(long number, long nowNanos) {
    if (timedNumber > 0) return;
    timedNumber = number;
    timedNanos = nowNanos;
  }

  /** It has come back, or a later one, where it was lost. */
  void echoed(long number, long nowNanos) {
    if (timedNumber == 0 || number < timedNumber) return;
    double delay = number == timedNumber ? nowNanos - timedNanos : 0;
    timedNumber = 0;
    if (delay == 0) return;
    delay += paceNanos;
    delayNanos = delayNanos == 0 ? delay : delayNanos + (delay - delayNanos) / AVERAGED;
  }

  /** Adds the requests that another gateway has more than before. */
  void addRemote(int more, long nowNanos) {
    if (more <= 0 || delayNanos == 0) return;
    double age = nowNanos - begunNanos - delayNanos / 2;
    if (age <= 0) return;
    if (age <= spanNanos) othersThen += more;
    else if (age <= 2 * spanNanos) othersLater += more;
  }

  /**
   * This gateway is to place a request; answers how long it waits for its turn.
   *
   * @param rank how many gateways have their turn before it
   * @param peers how many others there are
   */
  long place(long nowNanos, int rank, int peers) {
    if (delayNanos == 0) return 0;
    if (nowNanos - begunNanos > delayNanos / 2 + 2 * spanNanos) {
      company += (othersThen - company) / AVERAGED;
      usual += (othersLater - usual) / AVERAGED;
      othersThen = 0;
      othersLater = 0;
      begunNanos = nowNanos;
      spanNanos = (TURN * peers + 1) * delayNanos;
    }
    boolean isBurst = company - usual >= peers && company >= 2 * usual;
    if (!isBurst || peers * TURN * delayNanos > WAIT_NANOS_MAX) return 0;
    return Math.max(0, begunNanos + (long) (rank * TURN * delayNanos) - nowNanos);
  }
}
