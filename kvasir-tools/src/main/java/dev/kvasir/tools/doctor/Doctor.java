package dev.kvasir.tools.doctor;

import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.SystemFile;
import java.nio.file.Path;
import java.util.List;

/** Checks the machine, and says what follows for Kvasir. */
public final class Doctor {
  private Doctor() {}

  /** Looks at everything; where the cache folder is concerned, at that one. */
  public static List<Check> look(Path cacheFolder) {
    List<String> processors = SystemFile.lines(Path.of("/proc/cpuinfo"));
    ControlGroup limits = ControlGroup.read();
    CachePlace place = CachePlace.of(cacheFolder);
    Runtime runtime = Runtime.getRuntime();
    return List.of(
        JdkProbe.look(),
        CoreProbe.judge(runtime.availableProcessors(), processors, limits),
        MemoryProbe.judge(MemoryProbe.Physical.read(), runtime.maxMemory(), limits),
        VectorProbe.judge(processors, System.getProperty("os.arch", "an unknown processor")),
        CacheProbe.look(place),
        DirectProbe.look(place));
  }
}
