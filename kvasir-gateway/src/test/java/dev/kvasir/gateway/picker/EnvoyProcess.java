package dev.kvasir.gateway.picker;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** A real Envoy with the configuration that the project ships, but for ports and what is asked. */
final class EnvoyProcess implements AutoCloseable {
  private static final Path ROOT = Path.of(System.getProperty("kvasir.root", ".."));
  private static final int STARTS_MAX = 300;

  private final Process process;
  private final int port;
  private final Path log;

  private EnvoyProcess(Process process, int port, Path log) {
    this.process = process;
    this.port = port;
    this.log = log;
  }

  /** Starts it in front of the scene's workers. */
  static EnvoyProcess start(PickerScene scene, Path folder, UnaryOperator<String> change)
      throws IOException, InterruptedException {
    int port = free();
    int admin = free();
    var yaml =
        Files.readString(ROOT.resolve("packaging/envoy.yaml"))
            .replace("port_value: 10000", "port_value: " + port)
            .replace("port_value: 9901", "port_value: " + admin)
            .replace("port_value: 9002", "port_value: " + scene.picker.port())
            .replace("port_value: 8101", "port_value: " + scene.first.port())
            .replace("port_value: 8102", "port_value: " + scene.second.port());
    var file = Files.createTempFile(folder, "envoy", ".yaml");
    Files.writeString(file, change.apply(yaml));
    var log = Files.createTempFile(folder, "envoy", ".log");
    var process =
        new ProcessBuilder(
                System.getenv("KVASIR_ENVOY"),
                "-c",
                file.toString(),
                "--concurrency",
                "1",
                "--use-dynamic-base-id",
                "-l",
                "warning")
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    var envoy = new EnvoyProcess(process, port, log);
    envoy.await(URI.create("http://127.0.0.1:" + admin + "/ready"));
    return envoy;
  }

  private void await(URI ready) throws IOException, InterruptedException {
    try (var client = HttpClient.newHttpClient()) {
      for (int i = 0; i < STARTS_MAX && process.isAlive(); i++) {
        try {
          var request = HttpRequest.newBuilder(ready).build();
          if (client.send(request, BodyHandlers.discarding()).statusCode() == 200) return;
        } catch (IOException e) {
          // It does not listen yet.
        }
        Thread.sleep(50);
      }
    }
    throw new IOException("Envoy did not start: " + Files.readString(log));
  }

  private static int free() throws IOException {
    try (var socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  URI uri(String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS)) process.destroyForcibly();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
