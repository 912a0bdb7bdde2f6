package dev.kvasir.tools.doctor;

import dev.kvasir.net.machine.SystemFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * Limits that Linux control groups, hence containers, set for this process; both versions are read.
 */
record ControlGroup(OptionalDouble cores, OptionalLong memoryBytes) {
  private static final Path MOUNTS = Path.of("/sys/fs/cgroup");
  private static final Path MEMBERSHIP = Path.of("/proc/self/cgroup");

  static ControlGroup read() {
    return read(MOUNTS, SystemFile.lines(MEMBERSHIP));
  }

  /** Reads the limits below a mount, for a process in the groups of its membership lines. */
  static ControlGroup read(Path mounts, List<String> membership) {
    double cores = Double.POSITIVE_INFINITY;
    long memoryBytes = Long.MAX_VALUE;
    for (String line : membership) {
      String[] fields = line.split(":", 3); // hierarchy:controllers:/path
      if (fields.length < 3 || !fields[2].startsWith("/")) {
        continue;
      }
      List<String> controllers = Arrays.asList(fields[1].split(",", -1));
      for (Path folder : folders(mounts, controllers, fields[2])) {
        cores = Math.min(cores, cores(folder));
        memoryBytes = Math.min(memoryBytes, memoryBytes(folder));
      }
    }
    return new ControlGroup(
        cores == Double.POSITIVE_INFINITY ? OptionalDouble.empty() : OptionalDouble.of(cores),
        memoryBytes == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(memoryBytes));
  }

  /**
   * A limit holds for all groups below it, so each folder on the way up counts. A group outside of
   * what a container sees begins with "..": there the mount itself stands for it.
   */
  private static List<Path> folders(Path mounts, List<String> controllers, String group) {
    var starts = new ArrayList<Path>();
    if (controllers.contains("")) { // version 2; beside version 1 it lies in a folder of its own
      starts.add(mounts);
      starts.add(mounts.resolve("unified"));
    } else {
      for (String controller : List.of("cpu", "memory")) {
        if (controllers.contains(controller)) {
          starts.add(mounts.resolve(controller));
        }
      }
    }
    var folders = new ArrayList<Path>();
    for (Path start : starts) {
      Path inside = start.resolve(group.substring(1)).normalize();
      Path folder = inside.startsWith(start) ? inside : start;
      while (folder != null && folder.startsWith(start)) {
        folders.add(folder);
        folder = folder.getParent();
      }
    }
    return folders;
  }

  private static double cores(Path folder) {
    for (String line : SystemFile.lines(folder.resolve("cpu.max"))) {
      String[] quotaAndPeriod = line.split(" ", 2);
      return quotaAndPeriod.length < 2
          ? Double.POSITIVE_INFINITY
          : share(number(quotaAndPeriod[0]), number(quotaAndPeriod[1]));
    }
    return share(
        first(folder.resolve("cpu.cfs_quota_us")), first(folder.resolve("cpu.cfs_period_us")));
  }

  private static double share(long quota, long period) {
    return quota == Long.MAX_VALUE || period == Long.MAX_VALUE || quota <= 0 || period <= 0
        ? Double.POSITIVE_INFINITY
        : (double) quota / period;
  }

  private static long memoryBytes(Path folder) {
    return Math.min(
        first(folder.resolve("memory.max")), first(folder.resolve("memory.limit_in_bytes")));
  }

  private static long first(Path file) {
    List<String> lines = SystemFile.lines(file);
    return lines.isEmpty() ? Long.MAX_VALUE : number(lines.getFirst());
  }

  /** The number, or the largest one for "max", which says that there is no limit. */
  private static long number(String text) {
    try {
      return Long.parseLong(text.strip());
    } catch (NumberFormatException unlimited) {
      return Long.MAX_VALUE;
    }
  }
}
