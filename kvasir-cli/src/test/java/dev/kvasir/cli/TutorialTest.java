package dev.kvasir.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** The tutorial, command by command: a server runs until a command comes that does not ask it. */
@Timeout(240)
@Tag("all")
class TutorialTest {
  private static final Path ROOT = Script.projectRoot();

  private static final boolean FULL = Integer.getInteger("kvasir.scale", 1) > 1;

  /** Fewer requests, sooner after each other, than the tutorial's: those take 16 s. */
  private static final String PACE = FULL ? "1" : "0.25";

  private static final int REQUESTS = FULL ? 80 : 32;

  @TempDir private Path folder;
  private @Nullable ServerProcess server;

  @AfterEach
  void stop() throws InterruptedException {
    if (server != null) server.stop();
    server = null;
  }

  @Test
  void everyCommandOfTheTutorialWorks() throws Exception {
    var commands = commands(Files.readString(ROOT.resolve("docs/tutorial.md")));
    assertThat(commands).hasSizeGreaterThanOrEqualTo(7);
    for (var words : commands) run(words);
    stop();
    // What the change was made for has come about.
    assertThat(hitRate(folder.resolve("after.jsonl")))
        .isGreaterThan(hitRate(folder.resolve("before.jsonl")));
  }

  private void run(List<String> words) throws Exception {
    switch (words.getFirst()) {
      case "serve" -> {
        stop();
        server = ServerProcess.start(words, folder);
      }
      case "load" -> {
        var commandWords = new ArrayList<>(words);
        commandWords.addAll(List.of("--url", requireNonNull(server, "a server to load").url()));
        commandWords.addAll(List.of("--time-scale", PACE, "--requests", "" + REQUESTS));
        assertThat(succeed(commandWords)).contains(REQUESTS + " of " + REQUESTS + " answered");
      }
      default -> {
        stop();
        assertThat(succeed(words)).contains("cached %");
      }
    }
  }

  private static String succeed(List<String> words) {
    var output = Spoken.kvasir(words);
    assertThat(output.code()).as(words + ": " + output.err()).isZero();
    System.out.println("kvasir " + String.join(" ", words) + "\n" + output.out());
    return output.out();
  }

  /** The commands in fences, their files where this test has them. */
  private List<List<String>> commands(String text) {
    var commands = new ArrayList<List<String>>();
    for (var line : text.lines().filter(each -> each.startsWith("./kvasir ")).toList()) {
      var words = new ArrayList<String>();
      for (var word : line.substring("./kvasir ".length()).split(" ", -1)) words.add(placed(word));
      commands.add(words);
    }
    return commands;
  }

  private String placed(String word) {
    if (!word.endsWith(".jsonl")) return word;
    return (word.startsWith("examples/") ? ROOT : folder).resolve(word).toString();
  }

  /** The share of prompt tokens that needed no computing, as the capture has it. */
  private static double hitRate(Path capture) throws IOException {
    long prompts = 0;
    long cached = 0;
    for (var line : Files.readAllLines(capture)) {
      var node = JsonMapper.shared().readTree(line);
      prompts += node.path("prompt_tokens").asLong(0);
      cached += node.path("cached_tokens").asLong(0);
    }
    return (double) cached / prompts;
  }
}
