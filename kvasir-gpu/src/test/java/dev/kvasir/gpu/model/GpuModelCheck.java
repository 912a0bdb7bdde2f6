package dev.kvasir.gpu.model;

import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaDriver;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.engine.EngineCheck;
import dev.kvasir.gpu.engine.EngineCurves;
import dev.kvasir.gpu.engine.EngineLoad;
import dev.kvasir.gpu.engine.TierSpeed;
import dev.kvasir.gpu.library.CudaLibraries;
import dev.kvasir.gpu.model.GpuShape.Extra;
import dev.kvasir.gpu.model.GpuShape.RopePairs;
import dev.kvasir.gpu.model.KernelTuning.Begin;
import dev.kvasir.model.BuiltInModel;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * All checks and measurements of a model on a real GPU; each part tells why it failed, and the next
 * one goes on.
 */
final class GpuModelCheck {
  /** Exit status when a check could not be made. */
  private static final int FAILED = 70;

  private static final int NO_GPU = 69;

  /** Contexts and prompts around every limit of the kernels. */
  private static final KernelCheck.Extent EXTENT =
      new KernelCheck.Extent(
          List.of(1, 15, 16, 17, 255, 256, 257, 1000, 4097),
          List.of(
              new int[] {0, 2},
              new int[] {0, 63},
              new int[] {0, 64},
              new int[] {0, 65},
              new int[] {5, 130},
              new int[] {0, 128},
              new int[] {0, 129},
              new int[] {300, 200},
              new int[] {1_000, 700}));

  private final CudaDevice device;
  private final Path cache;
  private final PrintStream file;
  private final List<String> wrong = new ArrayList<>();

  private GpuModelCheck(CudaDevice device, Path cache, PrintStream file) {
    this.device = device;
    this.cache = cache;
    this.file = file;
  }

  /** One part of the check. */
  private interface Part {
    void run() throws IOException;
  }

  /** Arguments of the check. */
  private record Arguments(List<String> parts, double minutes, Path json) {}

  /**
   * Arguments: the result file; the parts: kernels, model, engine, failed, lost, load, tiers,
   * profile, decode, prefill, tuning, small, idle; for how many minutes there is load.
   */
  public static void main(String[] arguments) {
    int status = FAILED;
    try (var file = new PrintStream(arguments[0])) {
      var json = Path.of(arguments[0].replaceFirst("\\.txt$", "") + ".json");
      double minutes = arguments.length > 2 ? Double.parseDouble(arguments[2]) : 8;
      status = run(file, new Arguments(List.of(arguments[1].split(",")), minutes, json));
    } catch (Throwable failure) {
      failure.printStackTrace(System.err);
    }
    System.exit(status); // The threads of what failed half-way must not keep the process.
  }

  private static int run(PrintStream file, Arguments arguments) throws IOException {
    var parts = arguments.parts;
    var answer = CudaDriver.probe(CudaDriver.LIBRARY);
    if (!(answer instanceof CudaAnswer.Answered ready) || ready.gpus().isEmpty()) {
      System.out.println("no GPU: " + answer);
      return NO_GPU;
    }
    var cache = Files.createTempDirectory("kvasir-gpu-model-");
    var gpu = ready.gpus().getFirst();
    // A context that a part has lost cannot be given back; that is nothing to fail for.
    try (var resources = new CudaStack()) {
      var device = resources.add(CudaDevice.open(ready.driver(), gpu));
      var check = new GpuModelCheck(device, cache, file);
      var libraries = CudaLibraries.installed();
      check.print(
          "GPU %s, CUDA %s, compute capability %d, %s"
              .formatted(
                  gpu,
                  ready.driver().version(),
                  device.capability(),
                  libraries.compiler().description()));
      if (parts.contains("kernels")) check.part("kernels", () -> check.kernels(libraries));
      if (parts.contains("model")) check.part("model", () -> check.model(libraries));
      if (parts.contains("profile")) {
        check.part(
            "profile",
            () -> KernelProfile.run(device, libraries, ModelSpeed.EIGHT_BILLION, check::print));
      }
      if (parts.contains("decode") || parts.contains("prefill")) {
        check.part("speed, 8 billion", () -> check.speed(libraries, parts));
      }
      check.engines(ready, libraries, arguments);
      if (parts.contains("tuning")) check.part("tuning", () -> check.tuning(libraries));
      if (parts.contains("small")) check.part("speed, 0.5 billion", () -> check.small(libraries));
      check.print("held at the end: " + device.holdings());
      check.print(check.wrong.isEmpty() ? "all right" : "WRONG: " + check.wrong);
      return check.wrong.isEmpty() ? 0 : 1;
    }
  }

  private void engines(CudaAnswer.Answered ready, CudaLibraries libraries, Arguments arguments) {
    var parts = arguments.parts;
    if (parts.contains("engine")) {
      var engine = new EngineCheck(ready, libraries, cache, this::print);
      part("engine", () -> wrong.addAll(engine.answers(24, 24, 16, ModelCheck.PROMPTS)));
      if (engine.preemptions() == 0) wrong.add("no preemption was forced");
    }
    if (parts.contains("lost")) {
      var engine = new EngineCheck(ready, libraries, cache, this::print);
      part("lost", () -> wrong.addAll(engine.lost(12, ModelCheck.PROMPTS)));
    }
    if (parts.contains("failed")) {
      var engine = new EngineCheck(ready, libraries, cache, this::print);
      part("failed", () -> wrong.addAll(engine.failed(20, 24, ModelCheck.PROMPTS)));
    }
    if (parts.contains("load")) {
      var load = new EngineLoad(ready, libraries, cache, this::print);
      var time = Duration.ofSeconds((long) (60 * arguments.minutes));
      var size = new EngineLoad.Size(48, 40);
      part("load", () -> wrong.addAll(load.run(size, time, ModelCheck.PROMPTS)));
    }
    if (parts.contains("tiers")) {
      var tiers = new TierSpeed(ready, libraries, cache, this::print);
      for (int tokens : List.of(8_192, 32_768)) {
        part(
            "tiers, " + tokens + " tokens",
            () -> wrong.addAll(tiers.run(ModelSpeed.EIGHT_BILLION, tokens)));
      }
    }
    if (parts.contains("idle"))
      idle(new EngineCurves(ready, libraries, cache, this::print), arguments);
  }

  private void idle(EngineCurves curves, Arguments arguments) {
    var points = new ArrayList<EngineCurves.Point>();
    var running = List.of(1, 32, 128, 256);
    var waiting = List.of(0, 1_000, 10_000);
    var time = Duration.ofMillis(1_200);
    part(
        "idle, 8 billion",
        () -> points.addAll(curves.run("8b", ModelSpeed.EIGHT_BILLION, running, waiting, time)));
    part(
        "idle, half a billion",
        () -> points.addAll(curves.run("0.5b", ModelSpeed.SMALL, running, waiting, time)));
    part(
        "idle, as JSON",
        () ->
            Files.writeString(
                arguments.json,
                points.stream()
                    .map(EngineCurves.Point::json)
                    .collect(Collectors.joining(",\n", "[", "]\n"))));
  }

  private void part(String name, Part part) {
    print("== " + name);
    long begin = System.nanoTime();
    try {
      part.run();
    } catch (IOException | RuntimeException | Error failure) {
      print(name + " failed: " + failure);
      for (var frame : failure.getStackTrace()) {
        if (frame.getClassName().startsWith("dev.kvasir")) print("    at " + frame);
      }
      wrong.add(name + " failed");
    }
    print("   (%.1f s)".formatted((System.nanoTime() - begin) * 1e-9));
  }

  private void kernels(CudaLibraries libraries) throws IOException {
    var shapes =
        List.of(
            new GpuShape(
                2,
                4096,
                32,
                8,
                128,
                14336,
                4096,
                1024,
                1e-5f,
                5e5f,
                RopePairs.NEIGHBOURS,
                Extra.NONE),
            new GpuShape(
                2, 896, 14, 2, 64, 4864, 512, 1024, 1e-6f, 1e6f, RopePairs.HALVES, Extra.BIAS),
            new GpuShape(
                2, 256, 8, 4, 32, 704, 512, 1024, 1e-6f, 1e6f, RopePairs.HALVES, Extra.HEAD_NORM));
    for (var shape : shapes) {
      print("  " + shape);
      for (var result : KernelCheck.run(device, libraries, shape, EXTENT, 5)) {
        print("  " + result);
        if (!result.isRight()) wrong.add(result.toString());
      }
    }
  }

  private void model(CudaLibraries libraries) throws IOException {
    var model = BuiltInModel.file(cache);
    try (var check = new ModelCheck(device, libraries, model, cache, this::print)) {
      wrong.addAll(check.run(24, List.of(1, 2, 3, 8, 32, 100, 256)));
    }
  }

  private void speed(CudaLibraries libraries, List<String> parts) throws IOException {
    try (var speed =
        new ModelSpeed(
            device,
            libraries,
            ModelSpeed.EIGHT_BILLION,
            131_072,
            cache,
            KernelTuning.USUAL,
            this::print)) {
      if (parts.contains("decode")) {
        for (int batch : List.of(1, 2, 8, 32, 64, 128, 256)) speed.decode(batch, 200);
      }
      if (parts.contains("prefill")) {
        for (int tokens : List.of(2_048, 8_192, 32_768)) speed.prefill(tokens);
      }
      print("graphs made: " + speed.model().graphs());
    }
  }

  /** One caller, with each tuning; the first again at the end, to see what chance does. */
  private void tuning(CudaLibraries libraries) throws IOException {
    for (var tuning :
        List.of(
            KernelTuning.USUAL,
            new KernelTuning(Begin.IN_TURN, 4),
            new KernelTuning(Begin.EARLY, 2),
            KernelTuning.USUAL)) {
      print(tuning.toString());
      try (var speed =
          new ModelSpeed(
              device, libraries, ModelSpeed.EIGHT_BILLION, 32_768, cache, tuning, this::print)) {
        speed.decode(1, 100);
        speed.decode(2, 100);
      }
    }
  }

  private void small(CudaLibraries libraries) throws IOException {
    try (var speed =
        new ModelSpeed(
            device,
            libraries,
            ModelSpeed.HALF_BILLION,
            131_072,
            cache,
            KernelTuning.USUAL,
            this::print)) {
      for (int batch : List.of(1, 32, 256)) speed.decode(batch, 200);
    }
  }

  private void print(String line) {
    System.out.println(line);
    file.println(line);
    file.flush();
  }
}
