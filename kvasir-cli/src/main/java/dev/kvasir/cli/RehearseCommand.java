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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Training run for the AOT cache: what most starts load, and the load whose profiles it keeps. */
@Command(name = "rehearse", hidden = true, description = "Go through what most starts do.")
final class RehearseCommand implements Callable<Integer> {
  private static final String ENDPOINT = "  endpoint   ";
  private static final String IN_FRONT = "in front  ./kvasir serve --worker ";

  /** Load with which most of what a request goes through has profiles. */
  private static final List<String> LOAD =
      List.of("--requests=12000", "--duration=60", "--concurrency=48");

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
    var engines = served(ENDPOINT, serve("--disk-blocks=64", "--cache-dir=" + folder));
    var few = load(engines, "--requests=4", "--concurrency=2");
    worst = Math.max(worst, run(nowhere, few));
    var worker = served(IN_FRONT, "fleet", "--workers=1", "--port=0", "--control-port=0");
    var gateway =
        served(
            ENDPOINT,
            serve(
                "--worker=" + worker,
                "--naming=tokens",
                "--cache-dir=" + folder.resolve("gateway")));
    var many = load(gateway, LOAD.toArray(String[]::new));
    return Math.max(worst, run(nowhere, many));
  }

  /** Starts a server that runs until the process ends, and returns what its output says of it. */
  private String served(String before, String... words) throws IOException {
    var reader = new PipedReader(PIPE_CHARS);
    var out = new PrintWriter(new PipedWriter(reader), true);
    Thread.ofPlatform().name("kvasir-rehearsal").daemon(true).start(() -> serve(out, words));
    try (var lines = new BufferedReader(reader)) {
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(before)) return line.substring(before.length()).replace("/v1", "");
      }
    }
    throw new IOException(words[0] + " ended before it served");
  }

  private void serve(PrintWriter out, String... words) {
    run(out, words);
    out.close();
  }

  private static String[] serve(String... more) {
    return words(List.of("serve", "--port=0", "--admin-port=0"), more);
  }

  private static String[] load(String url, String... more) {
    return words(List.of("load", "--url=" + url, "--prompt-tokens=24", "--output-tokens=16"), more);
  }

  private static String[] words(List<String> first, String... more) {
    var words = new ArrayList<>(first);
    words.addAll(List.of(more));
    return words.toArray(String[]::new);
  }

  /** Runs a command as a start does, without settings from the environment. */
  private int run(PrintWriter out, String... words) {
    int code = Main.run(out, err, Map.of("XDG_CACHE_HOME", folder.toString()), words);
    if (code != ExitCode.OK) err.println(String.join(" ", words) + " ended with " + code);
    return code;
  }
}
