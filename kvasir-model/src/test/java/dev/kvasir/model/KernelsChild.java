package dev.kvasir.model;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;

/** A process of its own that computes a prompt, and prints which numbers came out. */
final class KernelsChild {
  private KernelsChild() {}

  public static void main(String[] args) throws IOException {
    System.out.println("logits " + digest(Path.of(args[0])));
  }

  static int digest(Path file) throws IOException {
    var prompt = new int[20];
    Arrays.setAll(prompt, i -> 100 + 7 * i);
    try (var model = CpuModel.open(file, 1);
        var memory = Sequences.memory(model, 2)) {
      return Arrays.hashCode(Sequences.logits(model, memory, Sequences.slots(0, 2), prompt));
    }
  }
}
