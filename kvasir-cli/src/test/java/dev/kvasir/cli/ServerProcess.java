package dev.kvasir.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
  static ServerProcess start(List<String> words, Path folder)
      throws IOException, InterruptedException {
    var command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home", ""), "bin", "java").toString(),
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path", ""),
                Main.class.getName()));
    command.addAll(words);
    command.addAll(List.of("--port=0", "--admin-port=0", "--cache-dir=" + folder.resolve("cache")));
    var process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    BufferedReader out = process.inputReader();
    for (var line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith(ENDPOINT)) {
        var url = line.substring(ENDPOINT.length()).replace("/v1", "");
        awaitModels(url);
        return new ServerProcess(process, url);
      }
    }
    process.destroyForcibly();
    throw new IOException("the server ended before it served: " + command);
  }

  /** On a busy machine the gateway listens before its workers have told what they serve. */
  private static void awaitModels(String url) throws IOException, InterruptedException {
    var asked = HttpRequest.newBuilder(URI.create(url + "/v1/models")).build();
    try (var client = HttpClient.newHttpClient()) {
      for (int tries = 0; tries < 10 * PATIENCE_SECONDS; tries++) {
        var answer = client.send(asked, HttpResponse.BodyHandlers.ofString());
        if (answer.body().contains("\"id\"")) return;
        Thread.sleep(100);
      }
    }
    throw new IOException(url + " serves no model");
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
