package dev.kvasir.gpu.engine;

import dev.kvasir.embedded.ModelDevice;
import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaDriver;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.Gpu;
import dev.kvasir.gpu.folder.ModelFolder;
import dev.kvasir.gpu.library.CudaLibraries;
import dev.kvasir.gpu.library.LibraryFailure;
import dev.kvasir.gpu.library.LibraryMissing;
import dev.kvasir.gpu.model.GgufTensors;
import dev.kvasir.gpu.model.GpuModel;
import dev.kvasir.gpu.model.GpuModelSettings;
import dev.kvasir.gpu.model.GpuShape;
import dev.kvasir.gpu.model.TensorSource;
import dev.kvasir.model.gguf.GgufFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A model on a GPU that engines share. All memory is allocated when it is opened. */
public final class GpuDevice implements ModelDevice {
  /** Compute capability 8.0: the first with bf16 on its tensor cores. */
  public static final int CAPABILITY_MIN = 80;

  /** Besides the model and its blocks: what libraries and the copies of the tiers use, in parts. */
  private static final int SPARE_PARTS = 16;

  /** Goes up where blocks of the same model must not be used any more. */
  private static final int BLOCKS_VERSION = 2;

  private final CudaAnswer.Answered ready;
  private final CudaLibraries libraries;
  private final GpuShape shape;
  private final String fingerprint;
  private final Settings settings;
  private final Loading loading;
  private final List<GpuRoom> rooms = new ArrayList<>();
  private final ExecutorService waiter =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().name("kvasir-gpu-wait").daemon(true).factory());
  private volatile Loaded loaded;
  private int used;

  /** The resources on the GPU. */
  private record Loaded(CudaStack resources, CudaDevice device, GpuModel model, long blocksAt) {}

  /**
   * The settings of a model on a GPU.
   *
   * @param blocks of keys and values, for all engines together
   * @param stepTokensMax so many tokens a step may have
   * @param sequencesMax so many sequences a step may have
   * @param cache where compiled kernels are kept
   * @param weights which numbers the model computes with
   */
  public record Settings(
      int blocks, int stepTokensMax, int sequencesMax, Path cache, Weights weights) {}

  /** Numbers that a model computes with. */
  public enum Weights {
    OF_FILE,
    /** Random numbers in the shape of the file, for measurements. */
    DUMMY
  }

  /** Function that loads a model to its place. */
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
    this.ready = ready;
    this.libraries = libraries;
    this.shape = shape;
    this.fingerprint = fingerprint;
    this.settings = settings;
    this.loading = loading;
    try {
      this.loaded = load();
    } catch (IOException | RuntimeException failure) {
      waiter.shutdown();
      throw failure;
    }
  }

  private Loaded load() throws IOException {
    var resources = new CudaStack();
    try {
      var device = resources.add(CudaDevice.open(ready.driver(), ready.gpus().getFirst()));
      requireFit(device, shape, settings);
      long bytes = (long) settings.blocks * shape.blockBytes();
      long blocksAt = resources.add(device.allocate(bytes)).value();
      var kv = new GpuModel.KvPlace(blocksAt, settings.blocks);
      var place = new GpuModel.Place(device, libraries, kv);
      return new Loaded(
          resources, device, resources.add(loading.load(place, sizes(settings))), blocksAt);
    } catch (IOException | RuntimeException failure) {
      resources.close();
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
      throw new GpuUnavailable(String.valueOf(missing.getMessage()), missing);
    }
    return open(ready, libraries, file, settings);
  }

  /** The same with these libraries. */
  static GpuDevice open(
      CudaAnswer.Answered ready, CudaLibraries libraries, Path path, Settings settings)
      throws IOException {
    try {
      if (settings.weights == Weights.DUMMY) return random(ready, libraries, shape(path), settings);
      GpuShape shape;
      String print;
      try (var source = source(path)) {
        shape = source.shape();
        print = fingerprint("gpu-" + source.sha256());
      }
      Loading loading =
          (place, sizes) -> {
            try (var source = source(path)) {
              return GpuModel.load(place, shape, sizes, source);
            }
          };
      return new GpuDevice(ready, libraries, shape, print, settings, loading);
    } catch (CudaFailure | LibraryFailure | LibraryMissing failure) {
      throw new GpuUnavailable(
          "the model does not run on GPU %s: %s"
              .formatted(ready.gpus().getFirst().name(), failure.getMessage()),
          failure);
    }
  }

  /** Returns what names all that shapes keys and values of that model. */
  static String fingerprint(String model) {
    return model + ", blocks of 16, bf16, version " + BLOCKS_VERSION;
  }

  private static TensorSource source(Path path) throws IOException {
    return Files.isDirectory(path) ? ModelFolder.open(path) : new GgufTensors(GgufFile.open(path));
  }

  /** A folder says its shape without its tensors. */
  private static GpuShape shape(Path path) throws IOException {
    if (Files.isDirectory(path)) return ModelFolder.shape(path);
    try (var source = source(path)) {
      return source.shape();
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
        fingerprint("gpu-random " + shape),
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
          throw new GpuUnavailable(failure.getMessage(), failure);
      case CudaAnswer.Answered(CudaDriver _, List<Gpu> gpus) when gpus.isEmpty() ->
          throw new GpuUnavailable("the NVIDIA driver has no GPU: look at nvidia-smi");
      case CudaAnswer.Answered ready -> ready;
    };
  }

  private static void requireFit(CudaDevice device, GpuShape shape, Settings settings)
      throws CudaFailure, GpuUnavailable {
    int capability = device.capability();
    if (capability < CAPABILITY_MIN) {
      throw new GpuUnavailable(
          "%s has compute capability %s.%s; the kernels need 8.0 (A100, RTX 30) or newer"
              .formatted(device, capability / 10, capability % 10));
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

  CudaDevice device() {
    return loaded.device;
  }

  GpuModel model() {
    return loaded.model;
  }

  /** The address of that block. */
  long address(int firstBlock) {
    return loaded.blocksAt + (long) firstBlock * shape.blockBytes();
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
  public int vocabulary() {
    return shape.vocabulary();
  }

  @Override
  public int contextTokens() {
    return shape.contextTokens();
  }

  @Override
  public synchronized Room room(Wanted wanted) throws IOException {
    if (used + wanted.blocks() > settings.blocks) {
      throw new IllegalStateException(
          wanted.name() + " wants " + wanted.blocks() + " blocks, " + used + " are used");
    }
    device().bind();
    var room = new GpuRoom(this, wanted, used);
    used += wanted.blocks();
    rooms.add(room);
    return room;
  }

  /** Releases a room, and its blocks if they were the last ones given out. */
  synchronized void release(GpuRoom room, int first, int count) {
    if (rooms.remove(room)) room.release();
    if (first + count == used) used = first;
  }

  @Override
  public synchronized void restart() throws IOException {
    if (waiter.isShutdown()) throw new IOException("the model is closed");
    var lost = loaded;
    rooms.forEach(GpuRoom::release);
    // Giving back fails, and what was taken goes with the context.
    lost.resources.close();
    lost.device.reset();
    loaded = load();
    for (var room : rooms) room.renew();
  }

  @Override
  public synchronized void close() {
    waiter.shutdown();
    try {
      device().bind();
    } catch (CudaFailure lost) {
      // There is nothing left to give back.
    }
    loaded.resources.close();
  }

  @Override
  public String toString() {
    return loaded.device.toString();
  }
}
