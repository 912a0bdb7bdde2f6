package dev.kvasir.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** `kvasir serve` in a process of its own, on the classes of this build. */
final class ServerProcess {
  private static final String ENDPOINT = "  endpoint   ";
  private static final long PATIENCE_SECONDS = 60;

  private final Process process;
  private final String url;

  private ServerProcess(Process process, String url) {
    this.process = process;
    this.url = url;
  }

  /** Starts it on ports that are free, with its cache in the folder, and waits until it serves. */
  static ServerProcess start(List<String> words, Path folder) throws IOException {
    var command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home", ""), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED"));
    command.addAll(compiling());
    command.addAll(List.of("-cp", System.getProperty("java.class.path", "")));
    command.add(Main.class.getName());
    command.addAll(words);
    command.addAll(List.of("--port=0", "--admin-port=0", "--cache-dir=" + folder.resolve("cache")));
    return start(command, Collections.emptyMap());
  }

  /** Compiles as the tests' own process does. */
  private static List<String> compiling() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(each -> each.startsWith("-XX:Tier") || each.startsWith("-XX:CompileCommand"))
        .toList();
  }

  /** Starts it with these variables besides the usual ones, and waits until it serves. */
  static ServerProcess start(List<String> command, Map<String, String> environment)
      throws IOException {
    var builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().putAll(environment);
    var process = builder.start();
    BufferedReader out = process.inputReader();
    for (var line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith(ENDPOINT)) {
        return new ServerProcess(process, line.substring(ENDPOINT.length()).replace("/v1", ""));
      }
    }
    process.destroyForcibly();
    throw new IOException("the server ended before it served: " + command);
  }

  String url() {
    return url;
  }

  /** As Ctrl-C does: it finishes what is under way. */
  void stop() throws InterruptedException {
    process.destroy();
    if (process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) return;
    process.destroyForcibly();
    throw new IllegalStateException("the server did not stop");
  }
}
