package dev.kvasir.bench.proxy;

import dev.kvasir.Nullable;
import dev.kvasir.bench.Median;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One proxy of a comparison, and what was measured of it. A proxy whose streams do not end is
 * stopped, and has no figures from then on.
 */
final class PeersWay implements AutoCloseable {
  static final int FEW = 16;
  static final int MANY = 64;
  private static final int MILLIS = Integer.getInteger("millis", 2_000);
  private static final int COLD_SECONDS = Integer.getInteger("cold", 8);

  final String name;
  final double freshMib;
  final Rates few = new Rates();
  final Rates many = new Rates();

  /** Streams in each of the first seconds, and the processor time of one in microseconds. */
  final List<Long> cold = new ArrayList<>();

  final List<Long> coldMicros = new ArrayList<>();
  double afterMib = Double.NaN;
  @Nullable String trouble;
  private final ProxyProcess proxy;

  /** Measurements of each round with one number of callers. */
  static final class Rates {
    final List<Double> streams = new ArrayList<>();

    /** Processor time of one stream, which another load on the machine changes little. */
    final List<Double> userMicros = new ArrayList<>();

    final List<Double> systemMicros = new ArrayList<>();

    double median() {
      return PeersWay.median(streams);
    }

    double cpuMicros() {
      return PeersWay.median(userMicros) + PeersWay.median(systemMicros);
    }

    /** The median of the ratios of each round. */
    double over(Rates other) {
      var ratios = new ArrayList<Double>();
      int rounds = Math.min(streams.size(), other.streams.size());
      for (int i = 0; i < rounds; i++) ratios.add(streams.get(i) / other.streams.get(i));
      return PeersWay.median(ratios);
    }
  }

  PeersWay(String name, ProxyProcess proxy) throws IOException {
    this.name = name;
    this.proxy = proxy;
    this.freshMib = proxy.residentMib();
  }

  void begin(StreamLoad load, int warmSeconds) throws InterruptedException {
    try {
      for (int second = 0; second < COLD_SECONDS; second++) {
        var before = proxy.cpu();
        long streams = load.run(proxy.port(), FEW, 0, 1_000).getTotalCount();
        cold.add(streams);
        coldMicros.add(Math.round(proxy.cpu().since(before).sum() * 1e6 / streams));
      }
      load.run(proxy.port(), MANY, 0, warmSeconds * 1_000);
    } catch (IllegalStateException e) {
      give(e);
    }
  }

  void measure(StreamLoad load) throws InterruptedException {
    if (trouble != null) return;
    try {
      measure(load, FEW, few);
      measure(load, MANY, many);
    } catch (IllegalStateException e) {
      give(e);
    }
  }

  private void measure(StreamLoad load, int callers, Rates rates) throws InterruptedException {
    var before = proxy.cpu();
    long streams = load.run(proxy.port(), callers, 0, MILLIS).getTotalCount();
    var cpu = proxy.cpu().since(before);
    rates.streams.add(streams * 1e3 / MILLIS);
    rates.userMicros.add(cpu.user() * 1e6 / streams);
    rates.systemMicros.add(cpu.system() * 1e6 / streams);
  }

  private void give(IllegalStateException e) {
    trouble = e.getMessage();
    System.out.printf(Locale.ROOT, "%s is stopped: %s%n", name, trouble);
    proxy.close();
  }

  void finish() throws IOException {
    if (trouble == null) afterMib = proxy.residentMib();
  }

  @Override
  public void close() {
    if (trouble == null) proxy.close();
  }

  static double median(List<Double> values) {
    if (values.isEmpty()) return Double.NaN;
    return Median.of(values.stream().mapToDouble(Double::doubleValue).toArray());
  }
}
