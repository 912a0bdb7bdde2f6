package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.YamlFile;
import dev.kvasir.cli.settings.SimulationSettings;
import dev.kvasir.sim.trace.Trace;
import dev.kvasir.sim.trace.TraceInput;
import dev.kvasir.sim.trace.TraceOptions;
import dev.kvasir.sim.workload.ClosedLoop;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Synthetic;
import dev.kvasir.sim.workload.Workload;
import dev.kvasir.sim.workload.WorkloadSpec;
import dev.kvasir.spec.Section;
import dev.kvasir.spec.SpecError;
import dev.kvasir.spec.Written;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Source of the requests of a simulation: a trace, or a workload that describes them.
 *
 * @param trace null for none
 * @param workload null for none
 */
record Requests(@Nullable Path trace, @Nullable WorkloadSpec workload) {
  static final Requests NONE = new Requests(null, null);

  /** The requests that the command line names, if any. */
  static Requests of(SimulateOptions options) throws IOException {
    if (options.workload == null) return new Requests(options.traceFile(), null);
    return new Requests(null, spec(options.workload));
  }

  /**
   * Returns the requests of the section {@code workload} of a file; relative paths in it start at
   * the folder of that file.
   */
  static Requests of(Written written) throws IOException {
    return switch (written) {
      case Written.Blank _ -> NONE;
      case Written.Text text -> new Requests(null, spec(resolved(text)));
      case Written.Items _ ->
          throw new SpecError(
              written.origin().place() + ": workload",
              "this is a list",
              "describe the requests, or name a file");
      case Written.Keys keys when keys.values().containsKey("trace") ->
          Section.of("workload", keys).as(section -> new Requests(traceOf(keys, section), null));
      case Written.Keys keys ->
          new Requests(null, Section.of("workload", keys).as(WorkloadSpec::read));
    };
  }

  private static Path traceOf(Written.Keys keys, Section section) {
    var named = section.text("trace");
    return resolved(new Written.Text(named, keys.origin()));
  }

  private static Path resolved(Written.Text file) {
    var folder = file.origin().folder();
    return folder == null ? Path.of(file.text()) : Path.of(folder).resolve(file.text());
  }

  private static WorkloadSpec spec(Path file) throws IOException {
    return Section.of("", YamlFile.read(file)).as(WorkloadSpec::read);
  }

  /**
   * The requests; whatever was opened for them is added to the list, to be closed.
   *
   * @param hints adds to those of a trace what their callers might have said
   */
  Workload open(
      SimulationSettings settings, UnaryOperator<Iterator<Request>> hints, List<InputStream> opened)
      throws IOException {
    if (workload != null) return synthetic(workload, settings);
    if (trace == null) {
      throw new IllegalArgumentException(
          "nothing to simulate: give --trace FILE, --workload FILE, or --config FILE with a"
              + " workload");
    }
    var read = hints.apply(read(trace, TraceOptions.USUAL, settings, opened));
    return switch (settings.sessions()) {
      case RECORDED -> Workload.open(read);
      case CLOSED_LOOP -> closed(read, settings);
    };
  }

  private static Workload closed(Iterator<Request> requests, SimulationSettings settings) {
    var think = settings.thinkTime();
    return think == null ? ClosedLoop.recorded(requests) : ClosedLoop.thinking(requests, think);
  }

  /** The trace for replays that know no time, where a prompt is as long as all its ids. */
  Trace untimed(SimulationSettings settings, List<InputStream> opened) throws IOException {
    if (trace == null) throw new IllegalArgumentException("--cache-only needs --trace FILE");
    return read(trace, TraceOptions.USUAL.withWholeTails(), settings, opened);
  }

  private static Trace read(
      Path file, TraceOptions usual, SimulationSettings settings, List<InputStream> opened)
      throws IOException {
    var options =
        usual.limited(settings.requestsOrAll()).scaled(settings.timeScale() / settings.load());
    if (settings.order() == SimulationSettings.Order.SORTED) options = options.sorted();
    if (settings.idTokens() > 0) options = options.withIdsOf(settings.idTokens());
    if (settings.format() != null) options = options.as(settings.format());
    var input = input(file, opened);
    var header = settings.header();
    return header == null
        ? Trace.read(input, options)
        : Trace.read(input, input(header, opened), options);
  }

  private static TraceInput input(Path file, List<InputStream> opened) throws IOException {
    var stream = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
    opened.add(stream);
    return new TraceInput(file.toString(), stream);
  }

  private static Workload synthetic(WorkloadSpec spec, SimulationSettings settings) {
    if (settings.timeScale() != 1) {
      throw new IllegalArgumentException("simulation.time-scale is for traces; use --load instead");
    }
    long most = Math.min(settings.requestsOrAll(), spec.requestsMax());
    var seed = settings.seed();
    var drawn =
        new WorkloadSpec(seed == null ? spec.seed() : seed, most, spec.duration(), spec.clients());
    return new Synthetic(drawn.times(settings.load()));
  }
}
