package dev.kvasir.sim.trace;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CapturedCallersTest {
  private static final long MILLI = 1_000_000;

  private static Captured captured(int index, long arrival, long e2e) {
    var request = Request.of("r" + index, arrival, 100, 10, Content.unique(index));
    return new Captured(request, "gpu0", e2e / 2, e2e, 0);
  }

  /** Callers that ask again some milliseconds after each answer. */
  private static List<Captured> closed(int callers, int count, long seed) {
    var random = new SplittableRandom(seed);
    var free = new PriorityQueue<Long>();
    for (int i = 0; i < callers; i++) free.add(random.nextLong(5 * MILLI));
    var requests = new ArrayList<Captured>();
    for (int i = 0; i < count; i++) {
      long arrival = free.remove();
      long e2e = random.nextLong(200, 2_000) * MILLI;
      requests.add(captured(i, arrival, e2e));
      free.add(arrival + e2e + random.nextLong(MILLI, 4 * MILLI));
    }
    return requests;
  }

  private static List<Captured> open(double perSecond, int count, long seed) {
    var random = new SplittableRandom(seed);
    double nanos = 0;
    var requests = new ArrayList<Captured>();
    for (int i = 0; i < count; i++) {
      nanos += random.nextExponential() / perSecond * 1000 * MILLI;
      requests.add(captured(i, (long) nanos, random.nextLong(200, 2_000) * MILLI));
    }
    return requests;
  }

  @Test
  void callersThatWaitAreFound() {
    for (long seed = 0; seed < 20; seed++) {
      for (int callers : new int[] {1, 4, 16, 64, 200}) {
        var found = CapturedCallers.waiting(closed(callers, 4 * callers + 20, seed));
        assertThat(found).as("%d callers, seed %d", callers, seed).isNotNull();
      }
    }
  }

  @Test
  void arrivalsByChanceAreNotTakenForCallersThatWait() {
    for (long seed = 0; seed < 20; seed++) {
      for (double rate : new double[] {0.2, 1, 5, 24, 100, 400}) {
        var found = CapturedCallers.waiting(open(rate, 1_000, seed));
        assertThat(found).as("%s a second, seed %d", rate, seed).isNull();
      }
    }
  }

  @Test
  void aRequestFollowsTheAnswerBeforeIt() {
    var requests = closed(1, 30, 7);
    var callers = requireNonNull(CapturedCallers.waiting(requests));
    var first = requireNonNull(callers.next());
    assertThat(first).isEqualTo(requests.getFirst().request());
    assertThat(callers.next()).isNull();
    assertThat(callers.isOpen()).isFalse();
    // The answer takes ten seconds longer than it did, and so the next request comes as much later.
    long end = first.arrivalNanos() + requests.getFirst().e2eNanos() + 10_000 * MILLI;
    var second = requireNonNull(callers.after(first, end));
    assertThat(second.id()).isEqualTo("r1");
    assertThat(second.arrivalNanos())
        .isEqualTo(requests.get(1).request().arrivalNanos() + 10_000 * MILLI);
    assertThat(callers.after(first, end)).isNull();
  }

  @Test
  void everyRequestIsSentOnce() {
    var requests = closed(16, 200, 3);
    var callers = requireNonNull(CapturedCallers.waiting(requests));
    var waiting = new PriorityQueue<>(Comparator.comparingLong(Request::arrivalNanos));
    for (var each = callers.next(); each != null; each = callers.next()) waiting.add(each);
    assertThat(waiting).hasSize(16);
    var sent = new ArrayList<String>();
    while (!waiting.isEmpty()) {
      var each = waiting.remove();
      sent.add(each.id());
      var next = callers.after(each, each.arrivalNanos() + MILLI);
      if (next != null) waiting.add(next);
    }
    assertThat(sent).hasSize(200).doesNotHaveDuplicates();
  }

  @Test
  void requestsWithoutAnEndOrAnIdOfTheirOwnAreReplayedAsRecorded() {
    var requests = closed(4, 60, 1);
    var endless = new ArrayList<>(requests);
    endless.set(9, captured(9, requests.get(9).request().arrivalNanos(), 0));
    assertThat(CapturedCallers.waiting(endless)).isNull();
    var twice = new ArrayList<>(requests);
    var ninth = requests.get(9);
    twice.set(9, captured(8, ninth.request().arrivalNanos(), ninth.e2eNanos()));
    assertThat(CapturedCallers.waiting(twice)).isNull();
  }
}
