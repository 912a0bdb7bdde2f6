package dev.kvasir.sim.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.sim.plan.CheapestSearch.Alternative;
import dev.kvasir.sim.plan.CheapestSearch.Knowledge;
import dev.kvasir.sim.plan.CheapestSearch.Trial;
import dev.kvasir.sim.plan.CheapestSearch.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CheapestSearchTest {
  @Test
  void theFewestEnginesThatKeepTheTargetsAreFound() {
    for (int needed = 1; needed <= 64; needed++) {
      var search = new CheapestSearch(List.of(priced(2)), 64, 100);
      int runs = run(search, needed);
      assertThat(search.ranking()).containsExactly(new Trial(0, needed));
      assertThat(search.knowledge(0)).isEqualTo(Knowledge.FOUND);
      assertThat(runs).isLessThanOrEqualTo(12);
    }
  }

  @Test
  void theCheapestAndTheRunnerUpAreThoseOfAFullSearch() {
    for (int seed = 0; seed < 2_000; seed++) {
      var random = new SplittableRandom(seed);
      int count = 2 + random.nextInt(6);
      var alternatives = new ArrayList<Alternative>();
      var needed = new int[count];
      var costs = new ArrayList<Double>();
      for (int i = 0; i < count; i++) {
        double price = 1 + random.nextInt(500) / 100.0;
        needed[i] = 1 + random.nextInt(70);
        alternatives.add(priced(price));
        if (needed[i] <= 64) costs.add(needed[i] * price);
      }
      var search = new CheapestSearch(alternatives, 64, 1_000);
      run(search, needed);
      costs.sort(null);
      var found = search.ranking().stream().map(search::hourly).toList();
      int shown = Math.min(2, costs.size());
      assertThat(found.subList(0, shown)).as("seed %d", seed).isEqualTo(costs.subList(0, shown));
      assertThat(search.isCutShort()).isFalse();
    }
  }

  @Test
  void whatCannotBecomeCheapIsNotRunOnAndOn() {
    var cheap = List.of(priced(1), priced(1));
    var both = new CheapestSearch(cheap, 64, 1_000);
    int runs = run(both, 4, 4);
    var dear = new ArrayList<>(cheap);
    dear.add(priced(100));
    var three = new CheapestSearch(dear, 64, 1_000);
    // One engine of it costs more than all that the others need, but nobody knows that at first.
    assertThat(run(three, 4, 4, 64)).isLessThanOrEqualTo(runs + 3);
    assertThat(three.knowledge(2)).isEqualTo(Knowledge.TOO_DEAR);
  }

  @Test
  void whatNoNumberOfEnginesKeepsIsGivenUp() {
    var search = new CheapestSearch(List.of(priced(1)), 24, 1_000);
    run(search, 25);
    assertThat(search.ranking()).isEmpty();
    assertThat(search.knowledge(0)).isEqualTo(Knowledge.NEVER);
  }

  @Test
  void noMoreRunsAreMadeThanAllowed() {
    var search = new CheapestSearch(List.of(priced(1), priced(2)), 64, 5);
    assertThat(run(search, 60, 60)).isEqualTo(5);
    assertThat(search.isCutShort()).isTrue();
  }

  private static Alternative priced(double price) {
    return new Alternative(engines -> engines * price);
  }

  /** Makes all runs, and tells how many there were. */
  private static int run(CheapestSearch search, int... needed) {
    int runs = 0;
    for (var round = search.next(); !round.isEmpty(); round = search.next()) {
      for (var trial : round) {
        boolean keeps = trial.engines() >= needed[trial.alternative()];
        search.tried(trial, keeps ? Verdict.KEEPS : Verdict.FAILS);
        runs++;
      }
    }
    return runs;
  }
}
