package dev.kvasir.cli;

import dev.kvasir.cli.process.ExitCode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PipedReader;
import java.io.PipedWriter;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Goes through what most starts go through, for java to write an AOT cache of it. */
@Command(name = "rehearse", hidden = true, description = "Go through what most starts do.")
final class RehearseCommand implements Callable<Integer> {
  private static final String ENDPOINT = "  endpoint   ";
  private static final int PIPE_CHARS = 1 << 16;
  private static final String WORKLOAD =
      """
      seed: 42
      requests: 100
      rate: 20
      clients:
        - {id: chat, input: 64, output: 16}
      """;

  private final PrintWriter err;

  @Parameters(paramLabel = "FOLDER", description = "Folder for temporary files.")
  private Path folder = Path.of("");

  RehearseCommand(PrintWriter err) {
    this.err = err;
  }

  @Override
  public Integer call() throws IOException {
    var workload = Files.writeString(folder.resolve("workload.yaml"), WORKLOAD);
    var nowhere = new PrintWriter(Writer.nullWriter());
    int worst = run(nowhere, "--help");
    worst = Math.max(worst, run(nowhere, "simulate", "--workload", workload.toString()));
    return Math.max(worst, run(nowhere, load(served())));
  }

  /** Serves until the process ends, and answers where. */
  private String served() throws IOException {
    var reader = new PipedReader(PIPE_CHARS);
    var out = new PrintWriter(new PipedWriter(reader), true);
    Thread.ofPlatform().name("kvasir-rehearsal").daemon(true).start(() -> serve(out));
    try (var lines = new BufferedReader(reader)) {
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(ENDPOINT)) return line.substring(ENDPOINT.length()).replace("/v1", "");
      }
    }
    throw new IOException("the server ended before it served");
  }

  private void serve(PrintWriter out) {
    var cache = folder.resolve("cache").toString();
    run(out, "serve", "--port=0", "--admin-port=0", "--disk-blocks=64", "--cache-dir", cache);
    out.close();
  }

  private static String[] load(String url) {
    return new String[] {
      "load",
      "--url",
      url,
      "--requests=4",
      "--concurrency=2",
      "--prompt-tokens=24",
      "--output-tokens=16"
    };
  }

  /** As a start does, but for settings from the environment. */
  private int run(PrintWriter out, String... words) {
    int code = Main.run(out, err, Collections.emptyMap(), words);
    if (code != ExitCode.OK) err.println(String.join(" ", words) + " ended with " + code);
    return code;
  }
}
