package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import dev.kvasir.sim.latency.MeasuredStep;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.TraceCaller;
import dev.kvasir.sim.workload.Turn;
import dev.kvasir.spec.Written;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Reads Kvasir's own captures: what a router saw of its traffic, without any text of it. */
public final class CaptureReader implements RowReader {
  static final String SCHEMA = "kvasir.capture.v1";
  static final String DEPLOYMENT = "kvasir.deployment.v1";

  /**
   * Schema of the settings line in earlier captures: it begins a run, and its options are ignored.
   */
  static final String SETTINGS = "kvasir.settings.v1";

  private static final String STEPS = "kvasir.steps.v1";

  private static final long NANOS_PER_MICRO = 1000;
  private static final int NAME_DIGITS = 16;
  private static final double TIMES_MAX = 10;

  private final JsonRows rows;
  private final BlockIds blockIds;
  private final Recording recording = new Recording();
  private Written.@Nullable Keys deployment;
  private final List<MeasuredStep> steps = new ArrayList<>();
  private int runs;
  private boolean read;
  private long estimated;
  private long index;

  CaptureReader(TraceLines lines) {
    rows = new JsonRows(lines);
    blockIds = new BlockIds(lines);
  }

  /** Reads a capture for what was measured, rather than for its requests alone. */
  public static CaptureReader of(TraceInput input) {
    return new CaptureReader(new TraceLines(input));
  }

  @Override
  public @Nullable Request next() {
    var captured = nextCaptured();
    return captured == null ? null : captured.request();
  }

  /** The next one in order of arrival; null at the end. */
  public @Nullable Captured nextCaptured() {
    if (!read) {
      read = true;
      for (var line = rows.next(); line != null; line = rows.next()) read(line);
    }
    return recording.next();
  }

  private void read(JsonNode line) {
    var schema = rows.text(line, "schema");
    switch (schema) {
      case SCHEMA -> recording.add(captured(line));
      case DEPLOYMENT -> readDeployment(line);
      case SETTINGS -> runs++;
      case STEPS -> readSteps(line);
      default -> throw rows.error("schema is '" + schema + "'", "only " + SCHEMA + " can be read");
    }
  }

  private void readDeployment(JsonNode line) {
    runs++;
    if (runs > 1) return;
    deployment =
        (Written.Keys) written(rows.object(line, "deployment"), Written.Origin.of("the capture"));
  }

  private static Written written(JsonNode node, Written.Origin origin) {
    if (node.isArray()) {
      var items = new ArrayList<Written>();
      for (var each : node) items.add(written(each, origin));
      return new Written.Items(items, origin);
    }
    if (!node.isObject()) return new Written.Text(node.asString(""), origin);
    var keys = new LinkedHashMap<String, Written>();
    node.forEachEntry((name, value) -> keys.put(name, written(value, origin)));
    return new Written.Keys(keys, origin);
  }

  private void readSteps(JsonNode line) {
    for (var step : line.path("steps")) {
      try {
        steps.add(
            new MeasuredStep(
                step.path(0).asLong(-1),
                step.path(1).asLong(-1),
                step.path(2).asLong(-1),
                step.path(3).asLong(-1),
                step.path(4).asLong(-1)));
      } catch (IllegalArgumentException wrong) {
        throw rows.error(String.valueOf(wrong.getMessage()), "correct or remove the line");
      }
    }
  }

  /** All that is left of the capture. */
  public Capture readAll() {
    var requests = new ArrayList<Captured>();
    for (var next = nextCaptured(); next != null; next = nextCaptured()) requests.add(next);
    int calls = 2 * estimated > requests.size() ? 1 : Capture.CALLS_USUAL;
    return new Capture(deployment, steps, requests, runs, recording.estimates().notes(), calls);
  }

  private Captured captured(JsonNode line) {
    var id = rows.text(line, "id");
    int prompt = rows.tokens(line, "prompt_tokens", 1);
    int output = rows.tokens(line, "output_tokens", 0);
    var session = rows.text(line, "session");
    var request =
        new Request(
            id.isEmpty() ? RowReader.id(index) : id,
            rows.nanos(line, "arrival_us", NANOS_PER_MICRO),
            prompt,
            output,
            content(line, prompt, prompt + output),
            new TraceCaller(
                rows.text(line, "tenant"), rows.text(line, "class"), rows.text(line, "model")),
            session.isEmpty() ? Turn.ALONE : new Turn(session, 0, 0),
            0);
    index++;
    var captured =
        new Captured(
            request,
            rows.text(line, "instance"),
            rows.nanosIfAny(line, "ttft_us", NANOS_PER_MICRO),
            rows.nanosIfAny(line, "e2e_us", NANOS_PER_MICRO),
            rows.tokensIfAny(line, "cached_tokens"));
    int reported = rows.tokensIfAny(line, "told_prompt_tokens");
    if (reported == 0) return captured;
    estimated++;
    return captured.shortened(times(prompt, reported));
  }

  /**
   * Returns how many times longer the router took a prompt to be than the worker, which had its
   * tokens.
   */
  private double times(int prompt, int reported) {
    double times = (double) prompt / reported;
    if (times >= 1 / TIMES_MAX && times <= TIMES_MAX) return times;
    throw rows.error(
        "a prompt of " + prompt + " tokens has " + reported + " by the worker", "correct the line");
  }

  private Content content(JsonNode line, int prompt, int tokens) {
    var blocks = line.path("blocks");
    if (blocks.isMissingNode() || blocks.isEmpty()) return Content.unique(index);
    var ids = new long[blocks.size()];
    for (int block = 0; block < ids.length; block++) ids[block] = name(blocks.path(block));
    return blockIds.content(ids, rows.tokens(line, "block_tokens", 1), prompt, tokens, index);
  }

  private long name(JsonNode block) {
    var text = block.asString("");
    if (text.length() == NAME_DIGITS && text.chars().allMatch(HexFormat::isHexDigit)) {
      return HexFormat.fromHexDigitsToLong(text);
    }
    throw rows.error(
        "a block is named '" + text + "'", "names have 16 hexadecimal digits: correct the line");
  }
}
