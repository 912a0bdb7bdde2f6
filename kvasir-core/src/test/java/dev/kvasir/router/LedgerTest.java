package dev.kvasir.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.Seeds;
import dev.kvasir.router.LedgerEntry.Part;
import dev.kvasir.router.LedgerEntry.State;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Load;
import dev.kvasir.router.view.SloTargets;
import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

/** INV-8: entries open once and close once, and take off what they put on. */
class LedgerTest {
  /** The shortest time over which a rate is taken. */
  private static final double RATE_SECONDS = 30;

  private static final long SECOND = 1_000_000_000;

  private final Ledger ledger = new Ledger();

  @Test
  void requestMovesFromPrefillToDecodeToNothing() {
    var entry = ledger.open(Part.WHOLE, 100, 0);
    entry.prefill(60, 70, 0);
    assertThat(load(0)).isEqualTo(load(1, 1, 60, 70, 0, 0, 0, 70));
    entry.decode();
    entry.emit(5);
    assertThat(load(0)).isEqualTo(load(1, 0, 0, 0, 1, 105, 0, 70));
    entry.close();
    assertThat(load(0)).isEqualTo(load(0, 0, 0, 0, 0, 0, 0, 70));
    assertThat(ledger.isEmpty()).isTrue();
  }

  @Test
  void prefillForAnotherCountsAsAPlacementAndNeverDecodes() {
    var entry = ledger.open(Part.PREFILL, 100, 0);
    entry.prefill(100, 100, 0);
    assertThat(load(0).placements()).isEqualTo(1);
    assertThatThrownBy(entry::decode)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "first token of PREFILL of 100 prompt tokens, PREFILLING, 100 to compute, 0 emitted");
    entry.close();
    assertThat(ledger.isEmpty()).isTrue();
  }

  @Test
  void whatIsDoneTwiceIsRefusedWithItsValues() {
    var entry = ledger.open(Part.WHOLE, 100, 0);
    entry.prefill(60, 60, 0);
    assertThatThrownBy(() -> entry.prefill(60, 60, 0)).hasMessageStartingWith("prefill of WHOLE");
    entry.decode();
    assertThatThrownBy(entry::decode).hasMessageStartingWith("first token of WHOLE");
    assertThatThrownBy(() -> entry.emit(-1)).hasMessageStartingWith("-1 tokens of WHOLE");
    entry.close();
    assertThatThrownBy(entry::close)
        .hasMessage("second end of WHOLE of 100 prompt tokens, CLOSED, 60 to compute, 0 emitted");
    assertThat(ledger.isEmpty()).isTrue();
  }

  @Test
  void ledgerComesBackToZeroWhateverHappens() {
    Seeds.each(
        50 * Seeds.scale(),
        random -> {
          var ledger = new Ledger();
          var open = new ArrayList<LedgerEntry>();
          for (int step = 0; step < 2_000; step++) {
            long now = step * 10_000_000L;
            if (open.isEmpty() || random.nextInt(3) == 0) {
              var part = random.nextBoolean() ? Part.WHOLE : Part.PREFILL;
              var entry = ledger.open(part, random.nextInt(9_000), now);
              open.add(entry);
              if (random.nextInt(4) > 0) entry.prefill(random.nextInt(99), random.nextInt(99), now);
              continue;
            }
            int at = random.nextInt(open.size());
            var entry = open.get(at);
            switch (random.nextInt(4)) {
              case 0 -> {
                entry.close();
                open.remove(at);
              }
              case 1 -> {
                if (entry.state() == State.DECODING) entry.emit(random.nextInt(50));
              }
              default -> attemptFirstToken(entry);
            }
            assertThat(ledger.load(now, EngineSignals.NONE, 0, 0, null).inFlight())
                .isEqualTo(open.size());
          }
          open.forEach(LedgerEntry::close);
          assertThat(ledger.isEmpty()).isTrue();
        });
  }

  private static void attemptFirstToken(LedgerEntry entry) {
    if (entry.state() == State.DECODING) return;
    try {
      entry.decode();
    } catch (IllegalStateException refused) {
      assertThat(refused).hasMessageStartingWith("first token of PREFILL");
    }
  }

  @Test
  void workSentIsRememberedForAMinute() {
    var entry = ledger.open(Part.WHOLE, 100, 0);
    entry.prefill(60, 70, 0);
    entry.close();
    assertThat(load(59 * SECOND).recentWork()).isEqualTo(70);
    assertThat(load(60 * SECOND).recentWork()).isZero();
  }

  @Test
  void whatTheEngineKnowsOfMoreCountsOnTop() {
    var entry = ledger.open(Part.WHOLE, 1_000, 0);
    entry.prefill(1_000, 1_000, 0);
    // A second later it is in what the engine tells, unless the engine tells of less.
    var more = new EngineSignals(0, 0, 0, 0, -1, 5_000);
    assertThat(ledger.load(SECOND, more, 0, 0, null).prefillTokens()).isEqualTo(5_000);
    var less = new EngineSignals(0, 0, 0, 0, -1, 10);
    assertThat(ledger.load(SECOND, less, 0, 0, null).prefillTokens()).isEqualTo(1_000);
  }

  @Test
  void whatWasSentJustNowComesOnTopOfWhatTheEngineReports() {
    ledger.open(Part.WHOLE, 1_000, 0).prefill(1_000, 1_000, 0);
    var signals = new EngineSignals(0, 0, 0, 0, -1, 5_000);
    assertThat(ledger.load(SECOND / 10, signals, 0, 0, null).prefillTokens()).isEqualTo(6_000);
    assertThat(ledger.load(SECOND, signals, 0, 0, null).prefillTokens()).isEqualTo(5_000);
  }

  @Test
  void requestsOfOthersInTheQueueCountAsAverageOnes() {
    ledger.open(Part.WHOLE, 1_000, 0).prefill(1_000, 1_000, 0);
    var signals = EngineSignals.of(3, 9, 0);
    var load = ledger.load(0, signals, 0, 500, null);
    assertThat(load.prefillTokens()).isEqualTo(2_000);
    assertThat(load.decodeStreams()).isEqualTo(8);
  }

  @Test
  void slackIsThatOfTheMostPressedStream() {
    var targets = new SloTargets(Duration.ofSeconds(1), 1_000, Duration.ofMillis(100));
    var early = ledger.open(Part.WHOLE, 1_000, 0);
    early.decode();
    early.emit(10);
    var late = ledger.open(Part.WHOLE, 500, SECOND);
    late.decode();
    // Due at 2 s and ten tokens, that is 3 s; and at 1 s and 1.5 s, that is 2.5 s.
    double slack = ledger.load(2 * SECOND, EngineSignals.NONE, 0, 0, targets).slackSeconds();
    assertThat(slack).isCloseTo(0.5, within(1e-9));
    late.close();
    slack = ledger.load(2 * SECOND, EngineSignals.NONE, 0, 0, targets).slackSeconds();
    assertThat(slack).isCloseTo(1, within(1e-9));
  }

  private Load load(long nowNanos) {
    return ledger.load(nowNanos, EngineSignals.NONE, 0, 0, null);
  }

  private static Load load(
      int inFlight,
      int prefills,
      long tokens,
      long work,
      int streams,
      long context,
      int placements,
      long recent) {
    return new Load(
        inFlight,
        0,
        prefills,
        tokens,
        work,
        streams,
        context,
        placements,
        recent,
        recent / RATE_SECONDS,
        Double.POSITIVE_INFINITY);
  }
}
