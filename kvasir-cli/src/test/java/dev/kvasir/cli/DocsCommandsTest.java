package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.ParameterException;

/** Every command that a page shows is one that the command line takes. */
class DocsCommandsTest {
  private static final Path ROOT = Path.of(System.getProperty("kvasir.root", ".."));
  private static final PrintWriter NOWHERE = new PrintWriter(Writer.nullWriter());

  /** End of a command: a comment, a redirection or a pipe. */
  private static final Pattern END = Pattern.compile(" +(#|>|\\||&).*");

  private static final String LAUNCHER = "./kvasir prepare";

  @Test
  void everyCommandOfAPageIsTaken() throws IOException {
    var commands = new ArrayList<String>();
    try (var pages = Files.list(ROOT.resolve("docs"))) {
      for (var page : pages.filter(each -> each.toString().endsWith(".md")).sorted().toList()) {
        commands.addAll(commands(page));
      }
    }
    commands.addAll(commands(ROOT.resolve("README.md")));
    assertThat(commands).hasSizeGreaterThan(20);
    for (var command : commands) assertTaken(command);
  }

  private static void assertTaken(String command) {
    if (command.startsWith(LAUNCHER)) return;
    var words = List.of(END.matcher(command).replaceFirst("").strip().split(" +", -1));
    var output = "";
    try {
      var _ =
          Main.line(NOWHERE, NOWHERE, Map.of())
              .parseArgs(words.subList(1, words.size()).toArray(String[]::new));
    } catch (ParameterException wrong) {
      output = String.valueOf(wrong.getMessage());
    }
    assertThat(output).as(command).isEmpty();
  }

  /** The lines of code blocks that begin with the launcher, each with what continues it. */
  private static List<String> commands(Path page) throws IOException {
    var commands = new ArrayList<String>();
    boolean isCode = false;
    var command = new StringBuilder();
    for (var line : Files.readAllLines(page)) {
      if (line.startsWith("```")) isCode = !isCode;
      var text = line.startsWith("$ ") ? line.substring(2) : line;
      boolean isFirst = command.isEmpty() && text.startsWith("./kvasir ");
      if (!isCode || (!isFirst && command.isEmpty())) continue;
      boolean goesOn = text.endsWith("\\");
      command.append(goesOn ? text.substring(0, text.length() - 1) : text).append(' ');
      if (goesOn) continue;
      commands.add(command.toString().strip());
      command.setLength(0);
    }
    return commands;
  }
}
