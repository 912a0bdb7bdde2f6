package dev.kvasir.sim.workload;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClosedLoopTest {
  private static final Request A0 = row("a0", 10, new Turn("a", 0, 0));
  private static final Request A1 = row("a1", 20, new Turn("a", 1, 7));
  private static final Request A2 = row("a2", 30, new Turn("a", 2, 8));
  private static final Request B0 = row("b0", 15, new Turn("b", 0, 0));
  private static final Request LONE = row("lone", 12, Turn.ALONE);

  @Test
  void onlyFirstRoundsAndLoneRequestsComeByThemselves() {
    var loop = ClosedLoop.recorded(List.of(A0, LONE, B0, A1, A2).iterator());
    assertThat(loop.next()).isEqualTo(A0);
    assertThat(loop.next()).isEqualTo(LONE);
    assertThat(loop.next()).isEqualTo(B0);
    assertThat(loop.next()).isNull();
  }

  @Test
  void roundComesWhenTheOneBeforeWasAnsweredAndTheCallerHasThought() {
    var loop = ClosedLoop.recorded(List.of(A0, A1, A2).iterator());
    var second = requireNonNull(loop.after(A0, 100));
    assertThat(second).isEqualTo(A1.at(107));
    assertThat(second.deadlineNanos()).isEqualTo(1107);
    assertThat(loop.after(second, 200)).isEqualTo(A2.at(208));
    assertThat(loop.after(A2.at(208), 300)).isNull();
  }

  @Test
  void thinkTimeMayBeTheSameForAll() {
    var loop = ClosedLoop.thinking(List.of(A0, A2, A1).iterator(), Duration.ofNanos(50));
    assertThat(loop.after(A0, 100)).isEqualTo(A1.thinking(50).at(150));
    assertThat(loop.after(A1, 200)).isEqualTo(A2.thinking(50).at(250));
  }

  @Test
  void withoutThinkTimesTheSpacingOfTheRecordIsKept() {
    var rows = List.of(A0, A1.thinking(0), A2.thinking(0).at(45));
    var loop = ClosedLoop.recorded(rows.iterator());
    assertThat(loop.after(A0, 100)).isEqualTo(A1.thinking(10).at(110));
    assertThat(loop.after(A1, 200)).isEqualTo(A2.thinking(25).at(225));
  }

  @Test
  void sessionsGoBeforeLoneRequestsOfTheSameMoment() {
    var loop = ClosedLoop.recorded(List.of(LONE.at(10), B0.at(10), A0).iterator());
    assertThat(loop.next()).isEqualTo(B0.at(10));
    assertThat(loop.next()).isEqualTo(A0);
    assertThat(loop.next()).isEqualTo(LONE.at(10));
  }

  @Test
  void loneRequestIsFollowedByNothing() {
    var loop = ClosedLoop.recorded(List.of(LONE).iterator());
    assertThat(loop.after(LONE, 100)).isNull();
  }

  @Test
  void answerBeforeTheQuestionIsABug() {
    var loop = ClosedLoop.recorded(List.of(A0, A1).iterator());
    assertThatThrownBy(() -> loop.after(A0, 9)).hasMessageContaining("answered at 9 ns");
  }

  @Test
  void openLoopRefusesToGoBackInTime() {
    var loop = Workload.open(List.of(B0, A0).iterator());
    assertThat(loop.next()).isEqualTo(B0);
    assertThatThrownBy(loop::next).hasMessage("request a0 at 10 ns after 15");
  }

  @Test
  void requestsCheckThemselves() {
    var content = Content.unique(1);
    assertThatThrownBy(() -> Request.of("", 0, 1, 1, content)).hasMessageContaining("without");
    assertThatThrownBy(() -> Request.of("r", -1, 1, 1, content)).hasMessageContaining("-1 ns");
    assertThatThrownBy(() -> Request.of("r", 0, 0, 1, content))
        .hasMessage("request r of 0 and 1 tokens");
    assertThatThrownBy(() -> Request.of("r", 0, Integer.MAX_VALUE, 1, content))
        .hasMessageContaining("request r of");
  }

  private static Request row(String id, long nanos, Turn turn) {
    return new Request(
        id, nanos, 8, 4, Content.unique(nanos), TraceCaller.ANYBODY, turn, nanos + 1000);
  }
}
