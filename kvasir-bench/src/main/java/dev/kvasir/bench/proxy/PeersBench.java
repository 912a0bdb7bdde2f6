package dev.kvasir.bench.proxy;

import dev.kvasir.bench.Median;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Proxies for the same worker, each in a process of its own: how many short streams a second pass
 * through each, how many in the first seconds of its life, and how much memory and processor time
 * it takes.
 *
 * <p>Arguments are NAME=COMMAND; in a command {port} is where to listen, {worker} and {events} the
 * ports of the worker, {spare} any free port. The name nginx needs no command. Ratios are to the
 * first one. scripts/proxy-peers has the commands.
 */
public final class PeersBench {
  private static final int ROUNDS = Integer.getInteger("rounds", 5);
  private static final int MILLIS = Integer.getInteger("millis", 2_000);
  private static final int WARM_SECONDS = Integer.getInteger("warm", 10);
  private static final int COLD_SECONDS = 8;
  private static final int FEW = 16;
  private static final int MANY = 64;

  /** One proxy, and what was measured of it. */
  private static final class Way {
    private final String name;
    private final ProxyProcess proxy;
    private final double freshMib;
    private final List<Long> cold = new ArrayList<>();
    private final List<Long> coldMicros = new ArrayList<>();
    private final List<Double> few = new ArrayList<>();
    private final List<Double> many = new ArrayList<>();

    /** Its processor time for one stream, which another load on the machine changes little. */
    private final List<Double> cpuMicros = new ArrayList<>();

    Way(String name, ProxyProcess proxy) throws IOException {
      this.name = name;
      this.proxy = proxy;
      this.freshMib = proxy.residentMib();
    }

    void begin(StreamLoad load) throws InterruptedException {
      for (int second = 0; second < COLD_SECONDS; second++) {
        double before = proxy.cpuSeconds();
        long streams = load.run(proxy.port(), FEW, 0, 1_000).getTotalCount();
        cold.add(streams);
        coldMicros.add(Math.round((proxy.cpuSeconds() - before) * 1e6 / streams));
      }
      load.run(proxy.port(), MANY, 0, WARM_SECONDS * 1_000);
    }

    void measure(StreamLoad load) throws InterruptedException {
      double before = proxy.cpuSeconds();
      long streams = 0;
      streams += measure(load, FEW, few);
      streams += measure(load, MANY, many);
      cpuMicros.add((proxy.cpuSeconds() - before) * 1e6 / streams);
    }

    private long measure(StreamLoad load, int callers, List<Double> rates)
        throws InterruptedException {
      long streams = load.run(proxy.port(), callers, 0, MILLIS).getTotalCount();
      rates.add(streams * 1e3 / MILLIS);
      return streams;
    }
  }

  private PeersBench() {}

  public static void main(String[] arguments) throws Exception {
    var vertx = Vertx.vertx();
    var ways = new ArrayList<Way>();
    try (var worker = PeersWorker.start(vertx, Path.of(System.getProperty("tokenizer")))) {
      var load = new StreamLoad(vertx);
      // The worker and the callers are warm before the first proxy begins.
      load.run(worker.port(), MANY, 0, WARM_SECONDS * 1_000);
      for (var argument : arguments) {
        int at = argument.indexOf('=');
        var name = at < 0 ? argument : argument.substring(0, at);
        var proxy =
            at < 0
                ? ProxyProcess.nginx(worker.port())
                : ProxyProcess.command(worker.fill(argument.substring(at + 1)), name);
        var way = new Way(name, proxy);
        ways.add(way);
        way.begin(load);
      }
      for (int round = 0; round < ROUNDS; round++) for (var way : ways) way.measure(load);
      print(ways);
    } finally {
      for (var way : ways) way.proxy.close();
      vertx.close().await();
    }
  }

  private static void print(List<Way> ways) throws IOException {
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    System.out.printf(Locale.ROOT, "load average %.1f, %d rounds%n", load, ROUNDS);
    var format = "%-14s %9s %6s %9s %6s %9s %9s %9s   %s%n";
    System.out.printf(
        format,
        "",
        "16/s",
        "ratio",
        "64/s",
        "ratio",
        "CPU us",
        "fresh MiB",
        "after",
        "streams in each first second");
    var first = ways.getFirst();
    for (var way : ways) {
      System.out.printf(
          format,
          way.name,
          "%.0f".formatted(median(way.few)),
          "%.2f".formatted(median(first.few) / median(way.few)),
          "%.0f".formatted(median(way.many)),
          "%.2f".formatted(median(first.many) / median(way.many)),
          "%.0f".formatted(median(way.cpuMicros)),
          "%.0f".formatted(way.freshMib),
          "%.0f".formatted(way.proxy.residentMib()),
          way.cold);
    }
    System.out.println(first.name + ": CPU us a stream in each first second " + first.coldMicros);
    double third = first.cold.get(2);
    System.out.printf(
        Locale.ROOT,
        "%s: %.2f of its own warm rate in the third second after the first request%n",
        first.name,
        third / median(first.few));
  }

  private static double median(List<Double> rates) {
    return Median.of(rates.stream().mapToDouble(Double::doubleValue).toArray());
  }

  /** What the process and its children hold, in MiB. */
  static double residentMib(ProcessHandle process) throws IOException {
    double sum = 0;
    var all = new ArrayList<>(List.of(process));
    all.addAll(process.descendants().toList());
    for (var each : all) {
      var status = Path.of("/proc", Long.toString(each.pid()), "status");
      if (!Files.exists(status)) continue;
      for (var line : Files.readAllLines(status)) {
        if (!line.startsWith("VmRSS:")) continue;
        sum += Double.parseDouble(line.replaceAll("\\D", "")) / 1_024;
      }
    }
    return sum;
  }
}
