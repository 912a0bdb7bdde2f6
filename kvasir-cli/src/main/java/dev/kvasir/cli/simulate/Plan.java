package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.YamlFile;
import dev.kvasir.cli.settings.Configuration;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.cli.settings.SimulationSettings;
import dev.kvasir.sim.page.RunDescription;
import dev.kvasir.spec.SpecError;
import dev.kvasir.spec.Written;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.ParseResult;

/**
 * The simulations to run: one, or one for each point of a grid.
 *
 * @param command the command line, without its output options
 * @param defaults what counts where no layer says anything
 * @param layers what is written of the deployment; a later layer goes before those in front of it
 * @param blis what only counts under {@code --compat blis}
 */
record Plan(
    String command,
    Deployment defaults,
    List<Written.Keys> layers,
    Written.Keys blis,
    Requests requests,
    List<Dimension> dimensions) {
  private static final String BLIS = "blis";
  private static final List<String> LIMITED =
      List.of("limits.", "simulation.outages", "simulation.failures");

  Plan {
    layers = List.copyOf(layers);
    dimensions = List.copyOf(dimensions);
  }

  /** Precedence: flags, environment, file, what a capture says, defaults. */
  static Plan of(
      SimulateOptions options, ParseResult line, Map<String, String> environment, PrintWriter err)
      throws IOException {
    var none = Written.Keys.none(Written.Origin.of("the command line"));
    var file = options.config == null ? none : YamlFile.read(options.config);
    var given = optionKeys(options, line);
    var blis = given.values().get(BLIS) instanceof Written.Keys keys ? keys : none;
    var layers = new ArrayList<Written.Keys>();
    layers.add(Configuration.bare(file));
    layers.add(Configuration.variables(environment));
    layers.add(given.without(BLIS));
    var requests = requests(options, file);
    var capture = capture(options, layers, requests);
    var defaults =
        options.config == null && capture == null ? Deployment.ONE_GPU : Deployment.DEFAULT;
    if (capture != null) layers.addAll(0, capture.layers(layers, err));
    return new Plan(
        CommandText.of(line), defaults, layers, blis, requests, dimensions(given, file, options));
  }

  private static Requests requests(SimulateOptions options, Written.Keys file) throws IOException {
    var written = file.values().get("workload");
    if (options.namesRequests() || written == null) return Requests.of(options);
    return Requests.of(written);
  }

  /** The deployment that the trace describes; null for none. */
  private static @Nullable CaptureFile capture(
      SimulateOptions options, List<Written.Keys> layers, Requests requests) throws IOException {
    var trace = requests.trace();
    if (trace == null || options.isBlis() || options.cacheOnly) return null;
    var requested = Configuration.deployment(Deployment.ONE_GPU, layers).simulation();
    boolean isForeign = requested.header() != null || requested.format() != null;
    return isForeign || requested.captured() == SimulationSettings.Captured.REQUESTS
        ? null
        : CaptureFile.of(trace);
  }

  /** Returns the settings of the options, under the keys of a file. */
  private static Written.Keys optionKeys(SimulateOptions options, ParseResult line) {
    var given = Written.Keys.none(Written.Origin.of("the command line"));
    for (var option : line.matchedOptions()) {
      var name = option.longestName().substring(2);
      var key = KeyOption.named(name);
      if (key.isEmpty()) continue;
      var words = key.get().isFlag() ? "" : option.originalStringValues().getLast();
      var text = new Written.Text(key.get().value(words), Written.Origin.of("--" + name));
      given = given.with(key.get().path(), text);
    }
    for (var set : options.sets) {
      int equals = set.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException(
            "--set " + set + "; write KEY=VALUE, as in tiers.host.size=64GiB");
      }
      var name = set.substring(0, equals);
      var path = name.startsWith(BLIS + ".") ? name : Dimension.path(name);
      var origin = Written.Origin.of("--set " + name);
      given = given.with(path, new Written.Text(set.substring(equals + 1), origin));
    }
    return given;
  }

  private static List<Dimension> dimensions(
      Written.Keys given, Written.Keys file, SimulateOptions options) {
    var dimensions = new ArrayList<Dimension>();
    for (var each : swept(file)) if (!given.has(each.path())) dimensions.add(each);
    var named = new ArrayList<String>();
    for (var sweep : options.sweeps) {
      var each = Dimension.parse(sweep);
      if (named.contains(each.path())) {
        throw new IllegalArgumentException("--sweep " + each.name() + " is given twice");
      }
      named.add(each.path());
      dimensions.removeIf(other -> other.path().equals(each.path()));
      dimensions.add(each);
    }
    return dimensions;
  }

  /** The section {@code sweep} of a file: keys with lists of values. */
  private static List<Dimension> swept(Written.Keys file) {
    var dimensions = new ArrayList<Dimension>();
    var written = file.values().get("sweep");
    if (written == null || written instanceof Written.Blank) return dimensions;
    if (!(written instanceof Written.Keys keys)) {
      throw new SpecError(
          written.origin().place() + ": sweep", "this is not a section", "write 'key: [a, b]'");
    }
    keys.values()
        .forEach(
            (name, values) -> {
              try {
                dimensions.add(Dimension.of(name, texts(name, values)));
              } catch (IllegalArgumentException wrong) {
                var reason = String.valueOf(wrong.getMessage());
                throw new SpecError(
                    values.origin().place() + ": sweep", reason, "write 'key: [a, b]'");
              }
            });
    return dimensions;
  }

  private static List<Written.Text> texts(String name, Written values) {
    var list = values instanceof Written.Items items ? items.values() : List.of(values);
    var texts = new ArrayList<Written.Text>();
    for (var each : list) {
      if (!(each instanceof Written.Text text)) {
        throw new IllegalArgumentException(name + " must be a list of single values");
      }
      texts.add(text);
    }
    return texts;
  }

  boolean isGrid() {
    return !dimensions.isEmpty();
  }

  /** The deployment, of a grid without what is swept. */
  Deployment deployment() {
    return deployment(List.of());
  }

  /** The deployment of one point of the grid. */
  Deployment deployment(List<Written.Text> values) {
    return Configuration.deployment(defaults, all(values));
  }

  /** Returns whether a key is set anywhere, for a point of the grid. */
  boolean writes(String path, List<Written.Text> values) {
    return all(values).stream().anyMatch(layer -> layer.has(path));
  }

  /**
   * Returns whether the number of waiting requests is limited, as it is in every described
   * deployment.
   */
  boolean limits() {
    return !defaults.equals(Deployment.ONE_GPU)
        || writes("limits.queue", List.of())
        || writes("limits.failures", List.of())
        || writes("simulation.outages", List.of())
        || writes("simulation.failures", List.of())
        || dimensions.stream().anyMatch(each -> LIMITED.stream().anyMatch(each.path()::startsWith));
  }

  private List<Written.Keys> all(List<Written.Text> values) {
    var all = new ArrayList<>(layers);
    var point = Written.Keys.none(Written.Origin.of("--sweep"));
    for (int i = 0; i < values.size(); i++) {
      point = point.with(dimensions.get(i).path(), values.get(i));
    }
    all.add(point);
    return all;
  }

  /** With one more layer above all others. */
  Plan over(Written.Keys layer) {
    var more = new ArrayList<>(layers);
    more.add(layer);
    return new Plan(command, defaults, more, blis, requests, dimensions);
  }

  /** With other keys to vary. */
  Plan varying(List<Dimension> others) {
    return new Plan(command, defaults, layers, blis, requests, others);
  }

  List<String> keys() {
    return dimensions.stream().map(Dimension::name).toList();
  }

  RunDescription description() {
    var all = new ArrayList<RunDescription.Setting>();
    Configuration.merged(defaults, layers)
        .texts()
        .forEach((path, text) -> all.add(new RunDescription.Setting(path, text)));
    for (var each : dimensions) {
      all.add(
          new RunDescription.Setting(each.name() + ", each of", String.join(", ", each.texts())));
    }
    return new RunDescription(command, all);
  }
}
