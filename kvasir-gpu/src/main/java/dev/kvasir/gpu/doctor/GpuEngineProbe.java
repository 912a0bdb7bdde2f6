package dev.kvasir.gpu.doctor;

import dev.kvasir.Nullable;
import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaDriver;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.engine.GpuDevice;
import dev.kvasir.gpu.library.CudaLibraries;
import dev.kvasir.gpu.library.LibraryMissing;
import dev.kvasir.net.machine.Bytes;
import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import java.util.LinkedHashMap;
import java.util.List;

/** Checks whether embedded engines can run on the first GPU: its capability, and the libraries. */
public final class GpuEngineProbe {
  private static final String NAME = "gpu model";
  private static final String WITHOUT = "; until then embedded engines compute on the processor";

  private GpuEngineProbe() {}

  /** Empty if there is no working GPU. */
  public static List<Check> look() {
    if (!(CudaDriver.probe(CudaDriver.LIBRARY) instanceof CudaAnswer.Answered ready)) {
      return List.of();
    }
    if (ready.gpus().isEmpty()) return List.of();
    try (var device = CudaDevice.open(ready.driver(), ready.gpus().getFirst())) {
      return List.of(judge(device.capability(), device.freeBytes(), libraries()));
    } catch (CudaFailure failure) {
      return List.of();
    }
  }

  /**
   * Result of the search for the libraries.
   *
   * @param missing what to do about one that is not there; null where all are
   */
  record Libraries(String found, @Nullable String missing) {}

  private static Libraries libraries() {
    try {
      return new Libraries(CudaLibraries.installed().description(), null);
    } catch (LibraryMissing missing) {
      return new Libraries("", String.valueOf(missing.getMessage()));
    }
  }

  static Check judge(int capability, long freeBytes, Libraries libraries) {
    var details = new LinkedHashMap<String, Object>();
    details.put("computeCapability", capability / 10 + "." + capability % 10);
    details.put("freeBytes", freeBytes);
    details.put("libraries", libraries.found);
    var found = "compute capability " + details.get("computeCapability");
    if (capability < GpuDevice.CAPABILITY_MIN) {
      return new Check(
          NAME,
          Status.NOTE,
          found + ", 8.0 is needed",
          "embedded engines compute on the processor, or on an A100, RTX 30 or newer",
          details);
    }
    var missing = libraries.missing;
    if (missing != null) {
      return new Check(
          NAME, Status.NOTE, found + ", but " + missing, "install it" + WITHOUT, details);
    }
    return new Check(
        NAME,
        Status.OK,
        found + ", " + libraries.found,
        "embedded engines compute on it (serve --device gpu), with models of up to about "
            + Bytes.text(freeBytes),
        details);
  }
}
