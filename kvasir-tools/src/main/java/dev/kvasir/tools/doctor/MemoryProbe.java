package dev.kvasir.tools.doctor;

import dev.kvasir.net.machine.Bytes;
import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import dev.kvasir.net.machine.SystemFile;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalLong;

/** Checks how much memory there is, and how much this process may use. */
final class MemoryProbe {
  private static final long COMFORTABLE_BYTES = 2 * Bytes.GIB;

  private MemoryProbe() {}

  /** Memory of the machine, and the part of it that is not in use. */
  record Physical(long totalBytes, long availableBytes) {

    static Physical read() {
      List<String> lines = SystemFile.lines(Path.of("/proc/meminfo"));
      OptionalLong total = bytes(lines, "MemTotal:");
      OptionalLong available = bytes(lines, "MemAvailable:");
      if (total.isPresent() && available.isPresent()) {
        return new Physical(total.getAsLong(), available.getAsLong());
      }
      var system =
          ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);
      return new Physical(system.getTotalMemorySize(), system.getFreeMemorySize());
    }

    private static OptionalLong bytes(List<String> lines, String key) {
      return lines.stream()
          .filter(line -> line.startsWith(key))
          .map(line -> line.substring(key.length()).replace("kB", "").strip())
          .mapToLong(kibibytes -> Long.parseLong(kibibytes) << 10)
          .findFirst();
    }
  }

  static Check judge(Physical physical, long heapMaxBytes, ControlGroup limits) {
    long limitBytes = limits.memoryBytes().orElse(Long.MAX_VALUE);
    long usableBytes = Math.min(physical.availableBytes(), limitBytes);
    var details = new LinkedHashMap<String, Object>();
    details.put("totalBytes", physical.totalBytes());
    details.put("availableBytes", physical.availableBytes());
    details.put("heapMaxBytes", heapMaxBytes);
    var found = new StringBuilder();
    found.append(Bytes.text(physical.availableBytes())).append(" available of ");
    found.append(Bytes.text(physical.totalBytes()));
    if (limitBytes < physical.totalBytes()) { // no limit is written as a huge one, too
      details.put("cgroupLimitBytes", limitBytes);
      found.append("; the control group allows ").append(Bytes.text(limitBytes));
    }
    found.append("; heap up to ").append(Bytes.text(heapMaxBytes));
    boolean comfortable = usableBytes >= COMFORTABLE_BYTES;
    String follows =
        comfortable
            ? "heap and host tier have to fit into " + Bytes.text(usableBytes)
            : "too little for a host tier worth having: "
                + Bytes.text(COMFORTABLE_BYTES)
                + " or more are comfortable";
    return new Check(
        "memory", comfortable ? Status.OK : Status.NOTE, found.toString(), follows, details);
  }
}
