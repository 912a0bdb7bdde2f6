package dev.kvasir.sim.latency;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Measurements that a user made on an engine: steps, requests that had it to themselves, or both.
 *
 * @param steps forward passes
 * @param requests whole requests
 */
public record Measurements(List<Step> steps, List<Request> requests) {
  private static final int LINE_CHARS_MAX = 1 << 16;
  private static final int ROWS_MAX = 1_000_000;
  private static final JsonMapper JSON = new JsonMapper();
  private static final String REMEDY =
      "; a step has prefill_tokens, decode_tokens, step_us and perhaps context, a request has"
          + " prompt, output, ttft_us, e2e_us";

  public Measurements {
    steps = List.copyOf(steps);
    requests = List.copyOf(requests);
  }

  /** One forward pass, and the tokens before its decode rows, 0 where nobody counted them. */
  public record Step(double prefillTokens, double decodeTokens, double context, double micros) {}

  /** One request that waited for no other. */
  public record Request(double prompt, double output, double ttftMicros, double e2eMicros) {}

  /** Reads CSV with a header, or one JSON object a line; the source is named in errors. */
  public static Measurements read(Reader reader, String source) {
    return new Parser(reader, source).measurements();
  }

  private static final class Parser {
    private final Reader reader;
    private final String source;
    private final List<Step> steps = new ArrayList<>();
    private final List<Request> requests = new ArrayList<>();
    private final StringBuilder line = new StringBuilder();
    private int number;

    Parser(Reader reader, String source) {
      this.reader = reader;
      this.source = source;
    }

    Measurements measurements() {
      List<String> header = List.of();
      while (advance()) {
        var text = line.toString().strip();
        if (text.isEmpty()) continue;
        if (text.startsWith("{")) {
          add(object(text));
        } else if (header.isEmpty()) {
          header = cells(text);
        } else {
          add(row(header, cells(text)));
        }
        if (steps.size() + requests.size() > ROWS_MAX) {
          throw wrong("more than " + ROWS_MAX + " rows; take a sample of them");
        }
      }
      if (steps.isEmpty() && requests.isEmpty()) throw wrong("no measurement" + REMEDY);
      return new Measurements(steps, requests);
    }

    /** Takes the next line; no line may be so long that it fills the memory. */
    private boolean advance() {
      line.setLength(0);
      number++;
      try {
        int letter = reader.read();
        if (letter < 0) return false;
        for (; letter >= 0 && letter != '\n'; letter = reader.read()) {
          if (line.length() == LINE_CHARS_MAX) {
            throw wrong("longer than " + LINE_CHARS_MAX + " characters; is it the right file?");
          }
          line.append((char) letter);
        }
        return true;
      } catch (IOException e) {
        throw new UncheckedIOException(source + ":" + number, e);
      }
    }

    private static List<String> cells(String text) {
      var cells = new ArrayList<String>();
      for (var cell : text.split(",", -1)) cells.add(cell.strip());
      return cells;
    }

    private SequencedMap<String, String> object(String text) {
      try {
        if (!(JSON.readTree(text) instanceof ObjectNode object)) throw wrong("no JSON object");
        var fields = new LinkedHashMap<String, String>();
        object.forEachEntry((name, value) -> fields.put(name, value.asString("")));
        return fields;
      } catch (JacksonException e) {
        throw wrong("not JSON: " + e.getOriginalMessage());
      }
    }

    private SequencedMap<String, String> row(List<String> header, List<String> cells) {
      if (cells.size() != header.size()) {
        throw wrong(
            cells.size() + " cells under " + header.size() + " columns; was the line cut off?");
      }
      var fields = new LinkedHashMap<String, String>();
      for (int i = 0; i < cells.size(); i++) fields.put(header.get(i), cells.get(i));
      return fields;
    }

    private void add(SequencedMap<String, String> fields) {
      boolean step = !fields.getOrDefault("step_us", "").isEmpty();
      boolean request = !fields.getOrDefault("ttft_us", "").isEmpty();
      if (!step && !request) throw wrong("neither step_us nor ttft_us" + REMEDY);
      if (step) {
        double context = fields.containsKey("context") ? value(fields, "context") : 0;
        steps.add(
            new Step(
                value(fields, "prefill_tokens"),
                value(fields, "decode_tokens"),
                context,
                value(fields, "step_us")));
      }
      if (request) addRequest(fields);
    }

    private void addRequest(SequencedMap<String, String> fields) {
      var request =
          new Request(
              value(fields, "prompt"),
              value(fields, "output"),
              value(fields, "ttft_us"),
              value(fields, "e2e_us"));
      if (request.e2eMicros < request.ttftMicros) {
        throw wrong("e2e_us is less than ttft_us; both count from the request's arrival");
      }
      requests.add(request);
    }

    private double value(SequencedMap<String, String> fields, String name) {
      var text = fields.getOrDefault(name, "");
      if (text.isEmpty()) throw wrong("no " + name + REMEDY);
      try {
        double value = Double.parseDouble(text);
        if (value >= 0 && value < Double.POSITIVE_INFINITY) return value;
      } catch (NumberFormatException e) {
        throw wrong(name + " is \"" + text + "\"; give a number from 0 up");
      }
      throw wrong(name + " is " + text + "; give a number from 0 up");
    }

    private LatencyError wrong(String what) {
      return new LatencyError(source + ":" + number + ": " + what);
    }
  }
}
