package dev.kvasir.sim.page;

import static dev.kvasir.sim.page.Html.Column.bars;
import static dev.kvasir.sim.page.Html.Column.figures;
import static dev.kvasir.sim.page.Html.Column.words;

import dev.kvasir.sim.result.InstanceResult;
import dev.kvasir.sim.result.RunResult;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Shows how evenly the instances were used. */
final class BalanceChart {
  private final RunResult run;
  private final long[] requests;

  BalanceChart(RunResult run) {
    this.run = run;
    this.requests = new long[run.instances().size()];
    for (var request : run.requests()) {
      if (request.instance() >= 0) requests[request.instance()]++;
    }
  }

  void write(Html html) {
    html.element("p", evenness(), "class", "aside");
    double most = Math.max(1, LongStream.of(requests).max().orElse(1));
    html.table(
        IntStream.range(0, requests.length).boxed().toList(),
        List.of(
            words("instance", String::valueOf),
            bars("requests", i -> Figures.count(requests[i]), i -> requests[i] / most),
            bars("time computing", i -> Figures.share(busy(at(i))), i -> busy(at(i))),
            bars("found in cache", i -> Figures.share(at(i).hitRate()), i -> at(i).hitRate()),
            figures("prompt tokens", i -> Figures.count(at(i).inputTokens())),
            figures("steps", i -> Figures.count(at(i).steps())),
            figures("preemptions", i -> Figures.count(at(i).preemptions()))));
  }

  private InstanceResult at(int index) {
    return run.instances().get(index);
  }

  private double busy(InstanceResult instance) {
    return run.endMicros() == 0 ? 0 : (double) instance.busyMicros() / run.endMicros();
  }

  private String evenness() {
    double sum = 0;
    double most = 0;
    for (var instance : run.instances()) {
      sum += busy(instance);
      most = Math.max(most, busy(instance));
    }
    if (run.instances().size() < 2 || sum == 0) return "How much of the time there was work.";
    double ratio = most * run.instances().size() / sum;
    return "The busiest instance computed "
        + Figures.digits(ratio)
        + " times as long as the average one.";
  }
}
