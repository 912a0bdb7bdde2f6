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
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
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

  @Option(
      names = "--warm-up",
      paramLabel = "TIME",
      description =
          "Longest time that the gateway takes to compile its code; the default is enough for most"
              + " of what a request goes through (default: 40s).")
  private String warmUp = "40s";

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
    var engines = served(engines());
    worst = Math.max(worst, run(nowhere, load(engines)));
    return Math.max(worst, run(nowhere, load(served(inFrontOf(engines)))));
  }

  /** Serves until the process ends, and answers where. */
  private String served(String... words) throws IOException {
    var reader = new PipedReader(PIPE_CHARS);
    var out = new PrintWriter(new PipedWriter(reader), true);
    Thread.ofPlatform().name("kvasir-rehearsal").daemon(true).start(() -> serve(out, words));
    try (var lines = new BufferedReader(reader)) {
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(ENDPOINT)) return line.substring(ENDPOINT.length()).replace("/v1", "");
      }
    }
    throw new IOException("the server ended before it served");
  }

  private void serve(PrintWriter out, String... words) {
    run(out, words);
    out.close();
  }

  private String[] engines() {
    return words("--disk-blocks=64", "--cache-dir=" + folder.resolve("cache"));
  }

  /**
   * A gateway, whose warm-up is the load that the profiles in the cache are of. Its tokenizer has
   * the bytes alone: profiles are of the ways taken, whatever the vocabulary.
   */
  private String[] inFrontOf(String worker) throws IOException {
    Files.writeString(folder.resolve("tokenizer.json"), BytesTokenizer.json());
    Files.writeString(folder.resolve("chat_template.jinja"), BytesTokenizer.TEMPLATE);
    return words(
        "--worker=" + worker,
        "--naming=tokens",
        "--tokenizer=" + folder,
        "--cache-dir=" + folder.resolve("gateway"),
        "--warm-up=" + warmUp);
  }

  private static String[] words(String... more) {
    var words = new ArrayList<>(List.of("serve", "--port=0", "--admin-port=0"));
    words.addAll(List.of(more));
    return words.toArray(String[]::new);
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
