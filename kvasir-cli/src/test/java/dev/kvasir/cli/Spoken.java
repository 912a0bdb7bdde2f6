package dev.kvasir.cli;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Result of a command line run in this process.
 *
 * @param code its exit code
 * @param out what it wrote to standard output
 * @param err what it wrote to standard error
 */
record Spoken(int code, String out, String err) {
  private static final JsonMapper JSON = new JsonMapper();

  static Spoken kvasir(List<String> words) {
    var out = new StringWriter();
    var err = new StringWriter();
    int code =
        Main.run(
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            new LinkedHashMap<>(),
            words.toArray(new String[0]));
    return new Spoken(code, out.toString(), err.toString());
  }

  static Spoken kvasir(String... words) {
    return kvasir(List.of(words));
  }

  /** The words of a line, with more words behind them. */
  static List<String> words(String line, Object... more) {
    var words = new ArrayList<>(List.of(line.split(" ", -1)));
    for (var word : more) words.add(word.toString());
    return words;
  }

  JsonNode json() {
    if (code != ExitCode.OK) throw new AssertionError(code + ": " + err);
    return JSON.readTree(out);
  }

  static JsonNode read(Path file) {
    return JSON.readTree(file.toFile());
  }

  /** The objects in a file of one JSON object a line, by their request. */
  static Map<String, JsonNode> requests(Path file) {
    var requests = new LinkedHashMap<String, JsonNode>();
    try (var lines = Files.lines(file)) {
      lines.map(JSON::readTree).forEach(each -> requests.put(name(each), each));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return requests;
  }

  private static String name(JsonNode request) {
    return request.path("request_id").asString();
  }
}
