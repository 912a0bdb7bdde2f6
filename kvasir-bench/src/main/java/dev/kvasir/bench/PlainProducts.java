package dev.kvasir.bench;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * The matrix products of one token or more as a plain loop in C, compiled when the bench runs.
 *
 * <p>The compiler may reorder the sums and use all the processor has; without that it would not use
 * vectors at all, and be no measure.
 */
final class PlainProducts implements AutoCloseable {
  private static final List<String> COMPILER =
      List.of("gcc", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC");

  private static final String SOURCE =
      """
      void products(const float *w, const float *x, float *y, int rows, int depth, int tokens) {
        for (int r = 0; r < rows; r++)
          for (int t = 0; t < tokens; t++) {
            float sum = 0;
            for (int k = 0; k < depth; k++) sum += w[(long) r * depth + k] * x[(long) t * depth + k];
            y[(long) t * rows + r] = sum;
          }
      }
      """;

  private final Arena arena = Arena.ofShared();
  private final MethodHandle products;
  private final List<Matrix> matrices = new ArrayList<>();
  private final MemorySegment in;
  private final MemorySegment out;

  /** So many rows of so many weights. */
  record Shape(int rows, int depth) {}

  private record Matrix(Shape shape, MemorySegment weights) {}

  @SuppressWarnings("restricted") // C is called by name and trust, or not at all
  private PlainProducts(Path library, List<Shape> shapes, int tokensMax) {
    this.products =
        Linker.nativeLinker()
            .downcallHandle(
                SymbolLookup.libraryLookup(library, arena).findOrThrow("products"),
                FunctionDescriptor.ofVoid(
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT));
    var random = new SplittableRandom(1);
    for (var shape : shapes) {
      matrices.add(new Matrix(shape, numbers(random, shape.rows * shape.depth)));
    }
    int widest = shapes.stream().mapToInt(s -> Math.max(s.rows, s.depth)).max().orElseThrow();
    this.in = numbers(random, widest * tokensMax);
    this.out = numbers(random, widest * tokensMax);
  }

  /** Nothing where there is no compiler. */
  static Optional<PlainProducts> compiled(List<Shape> shapes, int tokensMax) {
    try {
      var folder = Files.createTempDirectory("kvasir-bench");
      var source = Files.writeString(folder.resolve("products.c"), SOURCE);
      var library = folder.resolve("products.so");
      var command = new ArrayList<>(COMPILER);
      command.addAll(List.of("-o", library.toString(), source.toString()));
      var status = new ProcessBuilder(command).inheritIO().start().waitFor();
      if (status != 0) return Optional.empty();
      return Optional.of(new PlainProducts(library, shapes, tokensMax));
    } catch (IOException noCompiler) {
      System.out.println("no comparison with C: " + noCompiler.getMessage());
      return Optional.empty();
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException("interrupted while gcc ran", interrupted);
    }
  }

  private MemorySegment numbers(SplittableRandom random, int count) {
    var segment = arena.allocate(4L * count, 64);
    for (int i = 0; i < count; i++) {
      segment.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) random.nextDouble(-1, 1));
    }
    return segment;
  }

  /** All products of one step of so many tokens. */
  void run(int tokens) {
    try {
      for (var matrix : matrices) {
        products.invokeExact(
            matrix.weights, in, out, matrix.shape.rows, matrix.shape.depth, tokens);
      }
    } catch (Throwable failure) {
      throw new IllegalStateException("the loop in C failed", failure);
    }
  }

  @Override
  public void close() {
    arena.close();
  }
}
