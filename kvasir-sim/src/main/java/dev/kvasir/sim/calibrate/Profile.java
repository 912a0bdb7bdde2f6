package dev.kvasir.sim.calibrate;

import dev.kvasir.sim.server.ServerModel;
import dev.kvasir.sim.server.ServerTimes;
import java.util.List;

/**
 * Times of one deployment, as found from captures.
 *
 * @param calls how often the server is called for a request
 * @param values the times, in the order of {@link Parameter}
 * @param others times that the captures allow as well, to show what is not known
 * @param captures what it was found from
 */
public record Profile(
    String name,
    Origin origin,
    Limits limits,
    int calls,
    List<Double> values,
    List<List<Double>> others,
    List<Source> captures) {
  /** Least error of a run, however well the captures are explained. */
  private static final double MODEL_OFF = 0.05;

  /** Number of times in a profile. */
  private static final int VALUES = Parameter.values().length;

  public Profile {
    values = List.copyOf(values);
    others = others.stream().map(List::copyOf).toList();
    captures = List.copyOf(captures);
    for (var each : others) check(each);
    check(values);
    times(values, calls);
  }

  private static void check(List<Double> values) {
    if (values.size() == VALUES) return;
    throw new IllegalArgumentException(values.size() + " times, expected " + VALUES);
  }

  /**
   * Deployment that was measured.
   *
   * @param gpus over how many GPUs the model is split
   */
  public record Origin(String engine, String model, String gpu, int gpus) {}

  /**
   * A capture, and how well the profile explains it.
   *
   * @param sha256 of its bytes, unpacked
   * @param ttftOff by which share the predicted median is off, in logarithms
   */
  public record Source(String name, String sha256, int requests, double ttftOff, double e2eOff) {}

  public ServerTimes times() {
    return times(values, calls);
  }

  private static ServerTimes times(List<Double> each, int calls) {
    return Parameter.times(each.stream().mapToDouble(Double::doubleValue).toArray(), calls);
  }

  public ServerModel model() {
    return new ServerModel(times());
  }

  /** The models that the captures allow as well. */
  public List<ServerModel> otherModels() {
    return others.stream().map(each -> new ServerModel(times(each, calls))).toList();
  }

  /** Returns how far off a whole run may be though every time is right, in logarithms. */
  double runOff(Spread.Time time) {
    double squares = 0;
    for (var each : captures) {
      double off = time == Spread.Time.TTFT ? each.ttftOff() : each.e2eOff();
      squares += off * off;
    }
    return Math.sqrt(squares / Math.max(1, captures.size() - 1) + MODEL_OFF * MODEL_OFF);
  }
}
