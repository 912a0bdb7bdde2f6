package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.sim.page.Asked;
import dev.kvasir.sim.workload.WorkloadSpec;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What to run: one simulation, or one for each point of a grid.
 *
 * @param command what was typed, without where its figures go
 * @param workload what the scenario describes, unless the command line names another
 */
record Plan(
    String command,
    Settings settings,
    @Nullable WorkloadSpec workload,
    List<Dimension> dimensions) {
  Plan {
    dimensions = List.copyOf(dimensions);
  }

  /** The command line goes before the scenario, in settings and in what to vary. */
  static Plan of(
      Settings said, @Nullable Path scenario, List<String> sweeps, Knobs knobs, PrintWriter err)
      throws IOException {
    var file =
        scenario == null
            ? new ScenarioFile(Settings.none(knobs), List.of(), null)
            : ScenarioFile.read(scenario, knobs);
    boolean isNamed = said.has("trace") || said.has("workload") || said.has("validate");
    var under = isNamed ? file.settings().without("trace").without("workload") : file.settings();
    var asked = under.under(said).without("scenario").without("sweep");
    var settings = captured(asked, knobs, err).under(asked);
    var workload = isNamed ? null : file.workload();
    return new Plan(
        command(said, sweeps), settings, workload, dimensions(said, file, sweeps, knobs));
  }

  /** What the trace itself says of the cluster that it is of. */
  private static Settings captured(Settings asked, Knobs knobs, PrintWriter err)
      throws IOException {
    var file = asked.options().workload.capture();
    var capture = file == null || asked.has("compat") ? null : CaptureFile.of(file);
    return capture == null ? Settings.none(knobs) : capture.settings(knobs, asked, err);
  }

  private static String command(Settings said, List<String> sweeps) {
    var told = said.without("sweep");
    for (var name : List.of("json", "report", "requests-out", "threads")) told = told.without(name);
    var words = new ArrayList<>(List.of("kvasir simulate"));
    if (!told.typed().isEmpty()) words.add(told.typed());
    for (var sweep : sweeps) words.add("--sweep " + Settings.quoted(sweep));
    return String.join(" ", words);
  }

  private static List<Dimension> dimensions(
      Settings said, ScenarioFile file, List<String> sweeps, Knobs knobs) {
    var dimensions = new ArrayList<Dimension>();
    for (var each : file.sweep()) {
      if (!said.has(each.name())) dimensions.add(each);
    }
    var named = new ArrayList<String>();
    for (var sweep : sweeps) {
      var each = Dimension.parse(sweep, knobs);
      if (named.contains(each.name())) {
        throw new IllegalArgumentException("--sweep " + each.name() + " is given twice");
      }
      named.add(each.name());
      dimensions.removeIf(other -> other.name().equals(each.name()));
      dimensions.add(each);
    }
    return dimensions;
  }

  boolean isGrid() {
    return !dimensions.isEmpty();
  }

  SimulateOptions options() {
    return described(settings.options());
  }

  /** The options of one point of the grid. */
  SimulateOptions options(List<String> values) {
    var point = settings;
    for (int i = 0; i < values.size(); i++) {
      point = point.with(dimensions.get(i).name(), values.get(i));
    }
    return described(point.options());
  }

  private SimulateOptions described(SimulateOptions options) {
    if (workload != null) options.workload.describe(workload);
    return options;
  }

  List<String> keys() {
    return dimensions.stream().map(Dimension::name).toList();
  }

  Asked asked() {
    var all = new ArrayList<>(settings.settings());
    for (var each : dimensions) {
      all.add(new Asked.Setting(each.name() + ", each of", String.join(", ", each.values())));
    }
    return new Asked(command, all);
  }
}
