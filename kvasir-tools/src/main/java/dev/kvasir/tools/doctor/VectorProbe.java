package dev.kvasir.tools.doctor;

import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;

/** Checks the vector instructions of the processor. */
final class VectorProbe {

  /** The instructions that Linux names in /proc/cpuinfo, widest first. */
  private enum Instructions {
    AVX_512("AVX-512", "avx512f", 512),
    AVX2("AVX2", "avx2", 256),
    NEON("NEON", "asimd", 128),
    SSE2("SSE2", "sse2", 128);

    private final String title;
    private final String flag;
    private final int bits;

    Instructions(String title, String flag, int bits) {
      this.title = title;
      this.flag = flag;
      this.bits = bits;
    }
  }

  private VectorProbe() {}

  /**
   * Judges the vector instructions.
   *
   * @param processors the lines of /proc/cpuinfo, none where there is no such file
   * @param architecture what Java calls the processor; each aarch64 has NEON
   */
  static Check judge(List<String> processors, String architecture) {
    List<String> flags = flags(processors, architecture);
    for (Instructions instructions : Instructions.values()) {
      if (flags.contains(instructions.flag)) {
        var details = new LinkedHashMap<String, Object>();
        details.put("instructions", instructions.title);
        details.put("bits", instructions.bits);
        details.put("sve", flags.contains("sve"));
        return new Check(
            "vector",
            Status.OK,
            instructions.title + ", " + instructions.bits + " bits",
            "the embedded engine can compute " + instructions.bits / Float.SIZE + " floats at once",
            details);
      }
    }
    return new Check(
        "vector",
        Status.NOTE,
        "no vector instructions known for " + architecture,
        "the embedded engine will compute slowly; nothing else depends on them",
        new LinkedHashMap<>());
  }

  private static List<String> flags(List<String> processors, String architecture) {
    return processors.stream()
        .filter(line -> line.startsWith("flags") || line.startsWith("Features"))
        .map(line -> Arrays.asList(line.substring(line.indexOf(':') + 1).strip().split(" ", -1)))
        .findFirst()
        .orElse(architecture.equals("aarch64") ? List.of("asimd") : List.of());
  }
}
