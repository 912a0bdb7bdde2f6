package dev.kvasir.sim.page;

import dev.kvasir.sim.report.InstanceResult;
import dev.kvasir.sim.report.RunResult;
import java.util.List;
import java.util.Locale;

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
    html.openTable(
        List.of(
            "instance",
            "requests",
            "time computing",
            "found in cache",
            "prompt tokens",
            "steps",
            "preemptions"),
        1);
    long most = 1;
    for (long count : requests) most = Math.max(most, count);
    for (int i = 0; i < requests.length; i++) row(html, i, run.instances().get(i), most);
    html.closeTable();
  }

  private void row(Html html, int index, InstanceResult instance, long mostRequests) {
    html.open("tr").element("th", String.valueOf(index), "scope", "row");
    share(html, Figures.count(requests[index]), (double) requests[index] / mostRequests);
    double busy = busy(instance);
    share(html, Figures.share(busy), busy);
    share(html, Figures.share(instance.hitRate()), instance.hitRate());
    html.element("td", Figures.count(instance.inputTokens()));
    html.element("td", Figures.count(instance.steps()));
    html.element("td", Figures.count(instance.preemptions())).close("tr");
  }

  private static void share(Html html, String text, double share) {
    var style = String.format(Locale.ROOT, "--share:%.3f", Math.clamp(share, 0.0, 1.0));
    html.element("td", text, "class", "share", "style", style);
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
