package dev.kvasir.tools.doctor;

import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;

/** Checks how many cores there are, and how many this process may use. */
final class CoreProbe {
  private static final int ENOUGH = 4;

  private CoreProbe() {}

  /**
   * Judges the cores.
   *
   * @param available what the JVM counts on, a container's limit rounded up
   * @param processors the lines of /proc/cpuinfo, none where there is no such file
   */
  static Check judge(int available, List<String> processors, ControlGroup limits) {
    long online = processors.stream().filter(line -> line.startsWith("processor")).count();
    var details = new LinkedHashMap<String, Object>();
    details.put("available", available);
    var found = new StringBuilder(count(available));
    if (online > 0) {
      details.put("online", online);
      if (online > available) {
        found.append(" of ").append(online);
      }
    }
    if (limits.cores().isPresent()) {
      double limit = limits.cores().getAsDouble();
      details.put("cgroupLimit", limit);
      found.append(String.format(Locale.ROOT, "; the control group allows %.2f", limit));
    }
    return new Check("cores", status(available), found.toString(), follows(available), details);
  }

  private static Status status(int available) {
    return available == 1 ? Status.NOTE : Status.OK;
  }

  private static String follows(int available) {
    if (available == 1) {
      return "embedded engines and router will share it: fine to try things, not to measure them";
    }
    return available < ENOUGH
        ? "two embedded engines will share them with the router"
        : "room for two embedded engines and the router side by side";
  }

  private static String count(int cores) {
    return cores + (cores == 1 ? " core" : " cores");
  }
}
