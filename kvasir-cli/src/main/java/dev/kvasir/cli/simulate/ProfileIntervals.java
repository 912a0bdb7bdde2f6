package dev.kvasir.cli.simulate;

import dev.kvasir.sim.calibrate.Interval;
import dev.kvasir.sim.calibrate.Interval.Figure;
import dev.kvasir.sim.report.Fidelity;
import dev.kvasir.sim.result.RunResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The 90 % intervals of the figures of a run with a profile; empty without a profile. */
record ProfileIntervals(Map<Figure, Interval> intervals) {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  /** Of a run; it is done again with the other times that the profile's captures allow. */
  static ProfileIntervals of(Setup setup, RunResult run, long seed) throws IOException {
    var intervals = new EnumMap<Figure, Interval>(Figure.class);
    var profiles = setup.profiles();
    if (!profiles.isEmpty()) {
      var runs = new ArrayList<RunResult>();
      runs.add(run);
      runs.addAll(setup.others());
      for (var figure : Figure.values()) {
        intervals.put(figure, Interval.of(profiles, figure, runs, seed));
      }
    }
    return new ProfileIntervals(intervals);
  }

  /** With a profile no time was fitted to the requests that are compared. */
  Fidelity foretold(Fidelity fidelity) {
    return intervals.isEmpty() ? fidelity : fidelity.foretold();
  }

  String text() {
    if (intervals.isEmpty()) return "";
    var text = new StringBuilder("\nms, nine times of ten   from          to\n");
    intervals.forEach(
        (figure, each) ->
            text.append(
                String.format(
                    Locale.ROOT,
                    "%-17s%,12.1f%,12.1f%n",
                    title(figure),
                    each.low() / 1000,
                    each.high() / 1000)));
    return text.toString();
  }

  private static String title(Figure figure) {
    return figure.name().replace('_', ' ').replace(" P", " p");
  }

  /** The same figures in a JSON object. */
  String json(String object) {
    if (intervals.isEmpty() || !(JSON.readTree(object) instanceof ObjectNode node)) return object;
    var out = node.putObject("intervals_ms");
    intervals.forEach(
        (figure, each) ->
            out.putArray(figure.name().toLowerCase(Locale.ROOT))
                .add(each.low() / 1000)
                .add(each.high() / 1000));
    return JSON.writeValueAsString(node);
  }
}
