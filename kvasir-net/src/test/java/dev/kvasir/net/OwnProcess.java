package dev.kvasir.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A main class of the tests in a process of its own, which ends when its heap is full. It gets the
 * properties of this one whose names begin with {@code kvasir.}.
 */
public final class OwnProcess {
  private static final int SCALE = Integer.getInteger("kvasir.scale", 1);

  /** Outside the heap; a connection that loses some of it has used this up soon. */
  private static final String DIRECT = SCALE == 1 ? "20m" : "40m";

  /** Beginning of the line that every process with incubating modules writes first. */
  private static final String OF_THE_JVM = "WARNING: Using incubator modules";

  private static final String NICE = "/usr/bin/nice";

  /** Body of such a process. */
  @FunctionalInterface
  public interface Body {
    void run() throws Exception;
  }

  private OwnProcess() {}

  /** Does it, and ends the process whatever threads it has left. */
  public static void end(Body body) {
    try {
      body.run();
      System.exit(0);
    } catch (Exception | AssertionError e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
  }

  /**
   * Starts it.
   *
   * @param heap such as 128m
   */
  public static Process start(Class<?> main, String heap, String... arguments) throws IOException {
    return start(List.of(), main, heap, arguments);
  }

  /** As {@link #start}, but it computes only while nobody else does, as if it were elsewhere. */
  public static Process startAside(Class<?> main, String heap, String... arguments)
      throws IOException {
    boolean canBeNice = Files.isExecutable(Path.of(NICE));
    return start(canBeNice ? List.of(NICE, "-n", "19") : List.of(), main, heap, arguments);
  }

  private static Process start(List<String> before, Class<?> main, String heap, String... arguments)
      throws IOException {
    var command = new ArrayList<>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx" + heap, "-XX:+ExitOnOutOfMemoryError", "-XX:+UseSerialGC"));
    // Three collections of four else leave a twentieth of the heap as it is, though nobody uses it.
    command.add("-XX:MarkSweepAlwaysCompactCount=1");
    command.add("-XX:MaxDirectMemorySize=" + DIRECT);
    // What runs for seconds is not worth the second compiler's time.
    if (SCALE == 1) command.add("-XX:TieredStopAtLevel=1");
    command.addAll(List.of("--add-modules", "jdk.incubator.vector"));
    command.add("--enable-native-access=ALL-UNNAMED");
    for (var name : System.getProperties().stringPropertyNames()) {
      if (name.startsWith("kvasir.")) command.add("-D" + name + "=" + System.getProperty(name));
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  /** Runs it to its end, which must be a good one, and prints the last that it says. */
  public static void run(Class<?> main, String heap) throws IOException, InterruptedException {
    var process = start(main, heap);
    try (var out = process.inputReader(StandardCharsets.UTF_8)) {
      var output = out.lines().filter(line -> !line.startsWith(OF_THE_JVM)).toList();
      assertThat(process.waitFor()).as(String.join("\n", output)).isZero();
      System.out.println(output.getLast());
    } finally {
      process.destroyForcibly();
    }
  }
}
