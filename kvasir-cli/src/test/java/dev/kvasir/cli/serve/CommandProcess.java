package dev.kvasir.cli.serve;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A command of Kvasir in a process of its own, on the classes of this build. */
final class CommandProcess implements AutoCloseable {
  private static final int SCALE = Integer.getInteger("kvasir.scale", 1);

  private final Process process;

  /** Output up to the line that was waited for. */
  private final List<String> output = new ArrayList<>();

  /** Starts it. */
  CommandProcess(Path log, Map<String, String> environment, List<String> words) throws IOException {
    var java = Path.of(System.getProperty("java.home", ""), "bin", "java").toString();
    var command = new ArrayList<>(List.of(java, "-Xmx512m", "-XX:+UseSerialGC"));
    // What runs for seconds is not worth the second compiler's time.
    if (SCALE == 1) command.add("-XX:TieredStopAtLevel=1");
    command.addAll(List.of("--add-modules=jdk.incubator.vector"));
    command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-Djava.awt.headless=true"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path", "")));
    command.add("dev.kvasir.cli.Main");
    command.addAll(words);
    var builder = new ProcessBuilder(command).redirectError(log.toFile());
    builder.environment().putAll(environment);
    process = builder.start();
  }

  /** Waits until it has said a line that begins like this. */
  CommandProcess until(String last) throws IOException {
    BufferedReader out = process.inputReader();
    for (var line = out.readLine(); line != null; line = out.readLine()) {
      output.add(line);
      if (line.startsWith(last)) return this;
    }
    throw new IOException("it ended before it said '" + last + "': " + output);
  }

  /** The second word of each line that it has said and that begins like this. */
  List<String> values(String first) {
    return output.stream()
        .filter(line -> line.startsWith(first))
        .map(line -> line.strip().split(" +", 3)[1])
        .toList();
  }

  /** Asks it to stop, as {@code kill} does, and answers its status when it has. */
  int stop() {
    process.destroy();
    return process.onExit().join().exitValue();
  }

  /** Ends it as {@code kill -9} does. */
  void kill() {
    process.destroyForcibly();
    process.onExit().join();
  }

  @Override
  public void close() {
    kill();
  }
}
