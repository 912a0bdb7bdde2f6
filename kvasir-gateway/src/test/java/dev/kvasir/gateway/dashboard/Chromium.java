package dev.kvasir.gateway.dashboard;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.json.JsonMapper;

/** A real browser without a window, driven by its own protocol. */
final class Chromium implements AutoCloseable {
  private static final List<String> NAMES =
      List.of("chromium", "chromium-browser", "google-chrome-stable", "google-chrome");
  private static final long PATIENCE_NANOS = Duration.ofSeconds(60).toNanos();

  private final Process process;
  private final Path folder;
  private final int port;
  private final HttpClient client = HttpClient.newHttpClient();

  private Chromium(Process process, Path folder) throws InterruptedException {
    this.process = process;
    this.folder = folder;
    this.port = port();
  }

  /** The program on the path, if there is one. */
  static Optional<Path> program() {
    return NAMES.stream()
        .flatMap(
            name ->
                List.of(System.getenv("PATH").split(File.pathSeparator)).stream()
                    .map(in -> Path.of(in, name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** Starts it without its sandbox, which containers often forbid; it only sees our own page. */
  static Chromium start(Path program, String... options) throws IOException, InterruptedException {
    var folder = Files.createTempDirectory("kvasir-chromium");
    var command = new ArrayList<>(List.of(program.toString(), "--headless=new", "--no-sandbox"));
    command.addAll(List.of("--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"));
    command.addAll(List.of("--disable-background-networking", "--disable-component-update"));
    command.addAll(List.of("--no-first-run", "--remote-debugging-port=0"));
    command.addAll(List.of(options));
    command.addAll(List.of("--user-data-dir=" + folder, "about:blank"));
    var builder = new ProcessBuilder(command);
    builder.redirectErrorStream(true).redirectOutput(folder.resolve("log.txt").toFile());
    return new Chromium(builder.start(), folder);
  }

  /** Returns the port at which it listens, which it writes into a file once it does. */
  private int port() throws InterruptedException {
    var file = folder.resolve("DevToolsActivePort");
    long start = System.nanoTime();
    while (true) {
      try {
        var lines = Files.readAllLines(file);
        if (lines.size() >= 2) return Integer.parseInt(lines.getFirst());
      } catch (IOException notYet) {
        // It has only just been started.
      }
      if (!process.isAlive() || System.nanoTime() - start > PATIENCE_NANOS) {
        throw new IllegalStateException("the browser did not start: " + log());
      }
      Thread.sleep(10);
    }
  }

  private String log() {
    try {
      return Files.readString(folder.resolve("log.txt"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A new tab that shows nothing yet. */
  Tab tab() throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/json/new?about:blank"))
            .PUT(BodyPublishers.noBody())
            .build();
    var answer = client.send(request, BodyHandlers.ofString());
    var tree = JsonMapper.shared().readTree(answer.body());
    return Tab.connect(client, URI.create(tree.path("webSocketDebuggerUrl").asString()));
  }

  @Override
  public void close() {
    client.shutdownNow();
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    try {
      process.waitFor(20, TimeUnit.SECONDS);
      try (var files = Files.walk(folder)) {
        for (var file : files.sorted(Comparator.reverseOrder()).toList())
          Files.deleteIfExists(file);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException | UncheckedIOException stillWriting) {
      folder.toFile().deleteOnExit();
    }
  }
}
