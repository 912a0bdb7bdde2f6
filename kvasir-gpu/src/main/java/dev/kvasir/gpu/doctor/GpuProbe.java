package dev.kvasir.gpu.doctor;

import dev.kvasir.gpu.CudaDriver;
import dev.kvasir.gpu.doctor.GpuAnswer.State;
import dev.kvasir.net.machine.Bytes;
import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import dev.kvasir.net.machine.SystemFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/** Looks for NVIDIA GPUs: their device files, the kernel's driver, and the driver's library. */
public final class GpuProbe {
  private static final String WITHOUT = "the tiers start at host memory";

  private GpuProbe() {}

  public static Check look() {
    return judge(
        deviceFiles(Path.of("/dev")),
        SystemFile.lines(Path.of("/proc/driver/nvidia/version")),
        GpuAnswer.of(CudaDriver.probe(CudaDriver.LIBRARY)));
  }

  static List<String> deviceFiles(Path devices) {
    try (var files = Files.list(devices)) {
      return files
          .map(Path::toString)
          .filter(file -> file.matches(".*/nvidia[0-9]+"))
          .sorted()
          .toList();
    } catch (IOException unreadable) {
      return List.of();
    }
  }

  static Check judge(List<String> deviceFiles, List<String> kernelDriver, GpuAnswer answer) {
    var details = new LinkedHashMap<String, Object>();
    details.put("deviceFiles", deviceFiles);
    if (!kernelDriver.isEmpty()) {
      details.put("kernelDriver", kernelDriver.getFirst());
    }
    return switch (answer) {
      case GpuAnswer.Found(String cuda, List<State> gpus) when !gpus.isEmpty() ->
          found(cuda, gpus, details);
      case GpuAnswer.Found _ -> none(details);
      case GpuAnswer.Absent(String reason) -> {
        details.put("library", reason);
        yield deviceFiles.isEmpty()
            ? none(details)
            : note(
                deviceFiles.size() + " NVIDIA device files, but " + reason,
                "install the driver's library to use the GPU; until then " + WITHOUT,
                details);
      }
      case GpuAnswer.Broken(String reason, String advice) -> {
        details.put("library", reason);
        yield deviceFiles.isEmpty()
            ? none(details)
            : note(
                "NVIDIA driver library, but " + reason,
                advice + "; until then " + WITHOUT,
                details);
      }
    };
  }

  private static Check found(String cuda, List<State> gpus, SequencedMap<String, Object> details) {
    details.put("cuda", cuda);
    details.put("gpus", gpus.stream().map(GpuProbe::entries).toList());
    var texts = gpus.stream().map(GpuProbe::text).collect(Collectors.joining("; "));
    boolean usable = gpus.stream().anyMatch(state -> state.failure() == null);
    return usable
        ? new Check(
            "gpu",
            Status.OK,
            texts + "; CUDA " + cuda,
            "the device tier can use its memory",
            details)
        : note(texts + "; CUDA " + cuda, "until that is mended " + WITHOUT, details);
  }

  private static Check none(SequencedMap<String, Object> details) {
    return note("no NVIDIA GPU", WITHOUT + "; nothing to do", details);
  }

  private static Check note(String found, String follows, SequencedMap<String, Object> details) {
    return new Check("gpu", Status.NOTE, found, follows, details);
  }

  private static String text(State state) {
    var name = state.gpu().name() + ", " + Bytes.text(state.gpu().memoryBytes());
    return state.failure() == null
        ? name + ", " + Bytes.text(state.freeBytes()) + " free"
        : name + ", but " + state.failure();
  }

  private static SequencedMap<String, Object> entries(State state) {
    var entries = new LinkedHashMap<String, Object>();
    entries.put("index", state.gpu().index());
    entries.put("name", state.gpu().name());
    entries.put("memoryBytes", state.gpu().memoryBytes());
    entries.put("freeBytes", state.freeBytes());
    if (state.failure() != null) {
      entries.put("failure", Objects.requireNonNull(state.failure()));
    }
    return entries;
  }
}
