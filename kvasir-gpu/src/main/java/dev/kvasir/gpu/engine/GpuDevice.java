package dev.kvasir.gpu.engine;

import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaDriver;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaHandle;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.Gpu;
import dev.kvasir.gpu.library.CudaLibraries;
import dev.kvasir.gpu.library.LibraryFailure;
import dev.kvasir.gpu.library.LibraryMissing;
import dev.kvasir.gpu.model.GgufTensors;
import dev.kvasir.gpu.model.GpuModel;
import dev.kvasir.gpu.model.GpuModelSettings;
import dev.kvasir.gpu.model.GpuShape;
import dev.kvasir.live.engine.ModelDevice;
import dev.kvasir.model.gguf.GgufFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A model on a GPU that engines share. All memory is taken when it is opened, or it is not opened.
 */
public final class GpuDevice implements ModelDevice {
  /** Compute capability 8.0: the first with bf16 on its tensor cores. */
  private static final int CAPABILITY_MIN = 80;

  /** Besides the model and its blocks: what libraries and the copies of the tiers use, in parts. */
  private static final int SPARE_PARTS = 16;

  private final CudaStack taken = new CudaStack();
  private final CudaDevice device;
  private final GpuShape shape;
  private final GpuModel model;
  private final String fingerprint;
  private final long blocksAt;
  private final int blocks;
  private final ExecutorService waiter =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().name("kvasir-gpu-wait").daemon(true).factory());
  private int used;

  /**
   * What a model on a GPU is given.
   *
   * @param blocks of keys and values, for all engines together
   * @param stepTokensMax so many tokens a step may have
   * @param sequencesMax so many sequences a step may have
   * @param cache where compiled kernels are kept
   */
  public record Settings(int blocks, int stepTokensMax, int sequencesMax, Path cache) {}

  /** What loads a model to its place. */
  @FunctionalInterface
  private interface Loading {
    GpuModel load(GpuModel.Place place, GpuModelSettings sizes) throws IOException;
  }

  private GpuDevice(
      CudaAnswer.Answered ready,
      CudaLibraries libraries,
      GpuShape shape,
      String fingerprint,
      Settings settings,
      Loading loading)
      throws IOException {
    try {
      this.shape = shape;
      this.fingerprint = fingerprint;
      this.device = taken.add(CudaDevice.open(ready.driver(), ready.gpus().getFirst()));
      requireFit(device, shape, settings);
      this.blocks = settings.blocks();
      CudaHandle memory = taken.add(device.allocate((long) blocks * shape.blockBytes()));
      this.blocksAt = memory.value();
      var place = new GpuModel.Place(device, libraries, new GpuModel.KvPlace(blocksAt, blocks));
      this.model = taken.add(loading.load(place, sizes(settings)));
    } catch (IOException | RuntimeException failure) {
      taken.close();
      waiter.shutdown();
      throw failure;
    }
  }

  /** Loads the model in the file to the first GPU; an error says what is missing. */
  public static GpuDevice open(CudaAnswer answer, Path file, Settings settings) throws IOException {
    var ready = require(answer);
    CudaLibraries libraries;
    try {
      libraries = CudaLibraries.installed();
    } catch (LibraryMissing missing) {
      throw new GpuUnavailable(text(missing), missing);
    }
    return open(ready, libraries, file, settings);
  }

  /** The same with these libraries. */
  static GpuDevice open(
      CudaAnswer.Answered ready, CudaLibraries libraries, Path path, Settings settings)
      throws IOException {
    try (var file = GgufFile.open(path)) {
      var tensors = new GgufTensors(file);
      var shape = tensors.shape();
      return new GpuDevice(
          ready,
          libraries,
          shape,
          "gpu-" + file.sha256() + ", blocks of 16, bf16",
          settings,
          (place, sizes) -> GpuModel.load(place, shape, sizes, tensors));
    } catch (CudaFailure | LibraryFailure | LibraryMissing failure) {
      throw new GpuUnavailable(
          "the model does not run on GPU " + ready.gpus().getFirst().name() + ": " + text(failure),
          failure);
    }
  }

  /** A model that is made up, to measure with. */
  static GpuDevice random(
      CudaAnswer.Answered ready, CudaLibraries libraries, GpuShape shape, Settings settings)
      throws IOException {
    return new GpuDevice(
        ready,
        libraries,
        shape,
        "gpu-random " + shape,
        settings,
        (place, sizes) -> GpuModel.random(place, shape, sizes, 11));
  }

  /** The driver and its GPUs; an error that says why there is none. */
  static CudaAnswer.Answered require(CudaAnswer answer) throws GpuUnavailable {
    return switch (answer) {
      case CudaAnswer.Absent(String reason) ->
          throw new GpuUnavailable("there is no NVIDIA driver: " + reason);
      case CudaAnswer.Old old -> throw new GpuUnavailable(old.text() + ": update it");
      case CudaAnswer.Failed(CudaFailure failure) ->
          throw new GpuUnavailable(text(failure), failure);
      case CudaAnswer.Answered(CudaDriver _, List<Gpu> gpus) when gpus.isEmpty() ->
          throw new GpuUnavailable("the NVIDIA driver has no GPU: look at nvidia-smi");
      case CudaAnswer.Answered ready -> ready;
    };
  }

  private static void requireFit(CudaDevice device, GpuShape shape, Settings settings)
      throws CudaFailure, GpuUnavailable {
    if (device.capability() < CAPABILITY_MIN) {
      throw new GpuUnavailable(
          device
              + " has compute capability "
              + device.capability() / 10
              + "."
              + device.capability() % 10
              + "; the kernels need 8.0 (A100, RTX 30) or newer");
    }
    long kv = (long) settings.blocks() * shape.blockBytes();
    long model = GpuModel.bytes(shape, sizes(settings));
    long free = device.freeBytes();
    if (model + kv <= free - free / SPARE_PARTS) return;
    throw new GpuUnavailable(
        String.format(
            Locale.ROOT,
            "%s has %.1f GiB free; the model and its steps take %.1f GiB, %d KV blocks %.1f GiB:"
                + " use fewer KV blocks (--total-kv-blocks), fewer engines, or a smaller model",
            device,
            gib(free),
            gib(model),
            settings.blocks(),
            gib(kv)));
  }

  private static GpuModelSettings sizes(Settings settings) {
    int tokens = Math.max(settings.stepTokensMax(), settings.sequencesMax());
    return new GpuModelSettings(
        tokens, settings.sequencesMax(), GpuModelSettings.Graphs.USED, settings.cache());
  }

  private static double gib(long bytes) {
    return bytes / (double) (1 << 30);
  }

  private static String text(Throwable failure) {
    var text = failure.getMessage();
    return text == null ? failure.toString() : text;
  }

  CudaDevice device() {
    return device;
  }

  GpuModel model() {
    return model;
  }

  GpuShape shape() {
    return shape;
  }

  /** The thread that waits for steps. */
  ExecutorService waiter() {
    return waiter;
  }

  @Override
  public String fingerprint() {
    return fingerprint;
  }

  @Override
  public int blockBytes() {
    return shape.blockBytes();
  }

  @Override
  public int contextTokens() {
    return shape.contextTokens();
  }

  @Override
  public synchronized Room room(Wanted wanted) throws IOException {
    if (used + wanted.blocks() > blocks) {
      throw new IllegalStateException(
          wanted.name() + " wants " + wanted.blocks() + " blocks, " + used + " are used");
    }
    device.bind();
    int first = used;
    used += wanted.blocks();
    return new GpuRoom(this, wanted, blocksAt + (long) first * shape.blockBytes(), first);
  }

  /** Takes blocks back; those that were given out last. */
  synchronized void takeBack(int first, int count) {
    if (first + count == used) used = first;
  }

  @Override
  public void close() {
    waiter.shutdown();
    try {
      device.bind();
    } catch (CudaFailure lost) {
      // There is nothing left to give back.
    }
    taken.close();
  }

  @Override
  public String toString() {
    return device.toString();
  }
}
