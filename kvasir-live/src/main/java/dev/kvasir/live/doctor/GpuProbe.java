package dev.kvasir.live.doctor;

import dev.kvasir.live.doctor.CudaAnswer.Gpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/** Looks for NVIDIA GPUs: their device files, the kernel's driver, and the driver's library. */
final class GpuProbe {
  private static final String WITHOUT = "the device tier uses host memory";

  private GpuProbe() {}

  static Check look() {
    return judge(
        deviceFiles(Path.of("/dev")),
        SystemFile.lines(Path.of("/proc/driver/nvidia/version")),
        CudaDriver.ask(CudaDriver.LIBRARY));
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

  static Check judge(List<String> deviceFiles, List<String> kernelDriver, CudaAnswer answer) {
    var details = new LinkedHashMap<String, Object>();
    details.put("deviceFiles", deviceFiles);
    if (!kernelDriver.isEmpty()) {
      details.put("kernelDriver", kernelDriver.getFirst());
    }
    return switch (answer) {
      case CudaAnswer.Answered(int version, List<Gpu> gpus) when !gpus.isEmpty() -> {
        String cuda = version / 1000 + "." + version % 1000 / 10;
        details.put("cuda", cuda);
        details.put("gpus", gpus.stream().map(GpuProbe::entries).toList());
        yield new Check(
            "gpu",
            Status.OK,
            gpus.stream().map(GpuProbe::text).collect(Collectors.joining("; ")) + "; CUDA " + cuda,
            "the device tier can use its memory",
            details);
      }
      case CudaAnswer.Answered _ -> none(details);
      case CudaAnswer.Absent(String reason) -> {
        details.put("library", reason);
        yield deviceFiles.isEmpty()
            ? none(details)
            : note(
                deviceFiles.size() + " NVIDIA device files, but " + reason,
                "install the driver's library to use the GPU; until then " + WITHOUT,
                details);
      }
      case CudaAnswer.Failed(String call, int error) -> {
        details.put("library", call + " failed with CUDA error " + error);
        yield deviceFiles.isEmpty()
            ? none(details)
            : note(
                "NVIDIA driver library, but " + call + " fails with CUDA error " + error,
                "nvidia-smi or CUDA_VISIBLE_DEVICES may tell why; until then " + WITHOUT,
                details);
      }
    };
  }

  private static Check none(SequencedMap<String, Object> details) {
    return note("no NVIDIA GPU", WITHOUT + "; nothing to do", details);
  }

  private static Check note(String found, String follows, SequencedMap<String, Object> details) {
    return new Check("gpu", Status.NOTE, found, follows, details);
  }

  private static String text(Gpu gpu) {
    return gpu.name() + ", " + Bytes.text(gpu.memoryBytes());
  }

  private static SequencedMap<String, Object> entries(Gpu gpu) {
    var entries = new LinkedHashMap<String, Object>();
    entries.put("name", gpu.name());
    entries.put("memoryBytes", gpu.memoryBytes());
    return entries;
  }
}
