package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import dev.kvasir.kv.evict.policy.ReturnHint.Expectation;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.TraceCaller;
import dev.kvasir.sim.workload.Turn;
import java.util.Arrays;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads the traces of Mooncake: a line for a request, with ids for its blocks of 512 tokens.
 *
 * <p>Goes from token to token rather than by trees of nodes, since a trace may hold millions of
 * ids.
 */
final class MooncakeReader implements RowReader {
  static final int TOKENS_PER_ID = 512;

  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final String TIME = "timestamp";
  private static final String INPUT = "input_length";
  private static final String OUTPUT = "output_length";
  private static final String IDS = "hash_ids";

  private final TraceLines lines;
  private final Numbers numbers;
  private final TraceOptions options;
  private final BlockIds blockIds;
  private final SessionRounds rounds = new SessionRounds();
  private long[] ids = new long[256];
  private int idCount;
  private long timeNanos;
  private long thinkNanos;
  private int promptTokens;
  private int outputTokens;
  private String session = "";
  private String model = "";
  private Expectation expectation = Expectation.NOTHING;
  private boolean timed;
  private boolean thought;
  private long index;

  MooncakeReader(TraceLines lines, TraceOptions options) {
    this.lines = lines;
    this.options = options;
    numbers = new Numbers(lines);
    blockIds = new BlockIds(lines);
  }

  @Override
  public @Nullable Request next() {
    if (!lines.next()) return null;
    clear();
    try (var parser = JsonRows.parser(lines)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) throw JsonRows.noObject(lines);
      while (parser.nextToken() != JsonToken.END_OBJECT) read(parser, parser.currentName());
      if (parser.nextToken() != null) throw JsonRows.noObject(lines);
    } catch (JacksonException failure) {
      throw JsonRows.noObject(lines);
    }
    return request();
  }

  private void clear() {
    idCount = -1;
    promptTokens = -1;
    outputTokens = -1;
    thinkNanos = 0;
    session = "";
    model = "";
    expectation = Expectation.NOTHING;
    timed = false;
    thought = false;
  }

  private void read(JsonParser parser, String field) {
    parser.nextToken();
    switch (field) {
      case TIME -> {
        timeNanos = millis(parser, field);
        timed = true;
      }
      case "delay" -> {
        thinkNanos = millis(parser, field);
        thought = true;
      }
      case INPUT -> promptTokens = numbers.tokens(field, whole(parser, field), 1);
      case OUTPUT -> outputTokens = numbers.tokens(field, whole(parser, field), 0);
      case "returns" -> expectation = expectation(parser);
      case "session_id" -> session = parser.getString();
      case "model" -> model = parser.getString();
      case IDS -> readIds(parser);
      default -> parser.skipChildren();
    }
  }

  private Expectation expectation(JsonParser parser) {
    return switch (parser.currentToken()) {
      case VALUE_TRUE -> Expectation.RETURNS;
      case VALUE_FALSE -> Expectation.LAST;
      case VALUE_NULL -> Expectation.NOTHING;
      default -> throw lines.error("returns is neither true nor false", "correct or remove it");
    };
  }

  private long whole(JsonParser parser, String field) {
    return parser.currentToken() == JsonToken.VALUE_NUMBER_INT
        ? parser.getLongValue()
        : numbers.whole(field, parser.getString());
  }

  private long millis(JsonParser parser, String field) {
    return parser.currentToken() == JsonToken.VALUE_NUMBER_INT
        ? numbers.nanos(field, parser.getLongValue(), NANOS_PER_MILLI)
        : numbers.nanos(field, parser.getString(), NANOS_PER_MILLI);
  }

  private void readIds(JsonParser parser) {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw lines.error(IDS + " is not a list", "it must be a list of numbers");
    }
    idCount = 0;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (idCount == ids.length) ids = Arrays.copyOf(ids, 2 * idCount);
      ids[idCount++] = whole(parser, IDS);
    }
  }

  private Request request() {
    if (promptTokens < 0) throw missing(INPUT);
    if (outputTokens < 0) throw missing(OUTPUT);
    if (!timed && !(thought && index > 0)) throw missing(TIME);
    int tokensPerId = options.tokensPerId() > 0 ? options.tokensPerId() : TOKENS_PER_ID;
    int prompt = promptTokens;
    int named = prompt;
    if (idCount >= 0 && options.tail() == TraceOptions.Tail.WHOLE) {
      named = Math.ceilDiv(prompt, tokensPerId) * tokensPerId;
    }
    var content =
        idCount <= 0
            ? Content.unique(index)
            : blockIds.content(Arrays.copyOf(ids, idCount), tokensPerId, prompt, named, index);
    var turn = session.isEmpty() ? Turn.ALONE : new Turn(session, rounds.next(session), thinkNanos);
    return new Request(
        RowReader.id(index++),
        timeNanos,
        prompt,
        outputTokens,
        content,
        TraceCaller.ofModel(model),
        turn.withExpectation(expectation),
        0);
  }

  private TraceError missing(String field) {
    return lines.error("there is no " + field, "each line needs it: add it, or remove the line");
  }
}
