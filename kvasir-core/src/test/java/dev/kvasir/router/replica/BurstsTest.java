package dev.kvasir.router.replica;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Gateways that are asked at the same moment. */
class BurstsTest {
  private static final long MILLI = 1_000_000;
  private static final long DELAY = 5 * MILLI;
  private static final int PEERS = 3;

  private final Bursts bursts = new Bursts(0);
  private long nowNanos;
  private long messages;

  BurstsTest() {
    bursts.sent(++messages, nowNanos);
    nowNanos += DELAY;
    bursts.echoed(messages, nowNanos);
  }

  /** Each of the others has placed so many at the same moment, and tells of it later. */
  private long burst(int rank, int each) {
    nowNanos += 3_000 * MILLI;
    long waits = bursts.place(nowNanos, rank, PEERS);
    for (int i = 0; i < PEERS * each; i++) bursts.addRemote(1, nowNanos + DELAY);
    return waits;
  }

  @Test
  void inBurstsEachGatewayWaitsForThoseBeforeIt() {
    for (int i = 0; i < 50; i++) burst(1, 2);
    assertThat(burst(0, 2)).isZero();
    assertThat(burst(1, 2)).isBetween(DELAY, 2 * DELAY);
    assertThat(burst(3, 2)).isBetween(3 * DELAY, 4 * DELAY);
    // What comes when the turn is over does not wait.
    assertThat(bursts.place(nowNanos + 4 * DELAY, 3, PEERS)).isZero();
  }

  @Test
  void nobodyWaitsLongForTurns() {
    for (int i = 0; i < 50; i++) burst(1, 2);
    assertThat(bursts.place(nowNanos + 3_000 * MILLI, 1, 3)).isPositive();
    assertThat(bursts.place(nowNanos + 6_000 * MILLI, 1, 20)).isZero();
  }

  @Test
  void whereRequestsComeOneByOneNobodyWaits() {
    for (int i = 0; i < 50; i++) assertThat(burst(3, 0)).isZero();
  }

  @Test
  void whenBurstsAreOverNobodyWaitsAnyMore() {
    for (int i = 0; i < 50; i++) burst(3, 2);
    for (int i = 0; i < 50; i++) burst(3, 0);
    assertThat(burst(3, 0)).isZero();
  }

  @Test
  void manyRequestsAreNoBurst() {
    var random = new SplittableRandom(1);
    long waited = 0;
    for (int i = 0; i < 20_000; i++) {
      nowNanos += random.nextInt((int) MILLI);
      waited += bursts.place(nowNanos, 3, PEERS);
      for (int peer = 0; peer < PEERS; peer++) bursts.addRemote(random.nextInt(3), nowNanos);
    }
    assertThat(waited).isZero();
  }

  @Test
  void newsThatAreHeardAtOnceNeedNoTurns() {
    var fresh = new Bursts(0);
    fresh.sent(1, 0);
    fresh.echoed(1, 0);
    for (int i = 0; i < 50; i++) {
      long now = 3_000 * MILLI * i;
      assertThat(fresh.place(now, 3, PEERS)).isZero();
      fresh.addRemote(6, now);
    }
  }
}
