package dev.kvasir.bench.proxy;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/** Report of a comparison of proxies, as a table, and as JSON in the file of -Djson. */
final class PeersReport {
  private static final String COLUMNS = "%-14s %8s %6s %8s %6s %9s %9s %6s %6s   %s%n";

  private final List<PeersWay> ways;

  PeersReport(List<PeersWay> ways) {
    this.ways = ways;
  }

  void print() throws IOException {
    if (ways.isEmpty()) return;
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    int rounds = ways.getFirst().few.streams.size();
    System.out.printf(
        Locale.ROOT, "load average %.1f, %d rounds; ratio: the first to this one%n", load, rounds);
    System.out.printf(
        COLUMNS,
        "",
        "16/s",
        "ratio",
        "64/s",
        "ratio",
        "CPU us 16",
        "CPU us 64",
        "MiB",
        "after",
        "streams in each first second");
    for (var way : ways) print(way);
    var first = ways.getFirst();
    System.out.println(first.name + ": CPU us a stream in each first second " + first.coldMicros);
    if (first.cold.size() > 2) {
      System.out.printf(
          Locale.ROOT,
          "%s: %.2f of its own warm rate in the third second after the first request%n",
          first.name,
          first.cold.get(2) / first.few.median());
    }
    writeJson(load);
  }

  private void print(PeersWay way) {
    var first = ways.getFirst();
    System.out.printf(
        COLUMNS,
        way.name,
        text("%.0f", way.few.median()),
        text("%.2f", first.few.over(way.few)),
        text("%.0f", way.many.median()),
        text("%.2f", first.many.over(way.many)),
        text("%.1f", way.few.cpuMicros()),
        text("%.1f", way.many.cpuMicros()),
        text("%.0f", way.freshMib),
        text("%.0f", way.afterMib),
        way.cold);
    if (way.trouble != null) System.out.println("  stopped: " + way.trouble);
  }

  private static String text(String format, double value) {
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, format, value);
  }

  private void writeJson(double load) throws IOException {
    var file = System.getProperty("json");
    if (file == null) return;
    var all = new LinkedHashMap<String, Object>();
    all.put("load_average", load);
    for (var way : ways) {
      var one = new LinkedHashMap<String, Object>();
      one.put("callers_16", rates(way.few));
      one.put("callers_64", rates(way.many));
      one.put("cold_streams", way.cold);
      one.put("cold_cpu_us", way.coldMicros);
      one.put("fresh_mib", way.freshMib);
      one.put("after_mib", way.afterMib);
      if (way.trouble != null) one.put("stopped", way.trouble);
      all.put(way.name, one);
    }
    Files.writeString(Path.of(file), JsonMapper.shared().writeValueAsString(all) + "\n");
  }

  private static Map<String, Object> rates(PeersWay.Rates rates) {
    var all = new LinkedHashMap<String, Object>();
    all.put("streams_per_s", rates.streams);
    all.put("user_us", rates.userMicros);
    all.put("system_us", rates.systemMicros);
    return all;
  }
}
