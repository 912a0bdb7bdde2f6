package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.TraceCaller;
import dev.kvasir.sim.workload.Turn;
import tools.jackson.databind.JsonNode;

/** Reads the requests of Dynamo's request traces; what tools did between them is left out. */
final class DynamoReader implements RowReader {
  static final String SCHEMA = "dynamo.request.trace.v1";

  private static final long NANOS_PER_MILLI = 1_000_000;

  private final JsonRows rows;
  private final BlockIds blockIds;
  private final Recording recording = new Recording();
  private boolean read;
  private long index;

  DynamoReader(TraceLines lines) {
    rows = new JsonRows(lines);
    blockIds = new BlockIds(lines);
  }

  @Override
  public @Nullable Request next() {
    if (!read) {
      read = true;
      for (var line = rows.next(); line != null; line = rows.next()) readLine(line);
    }
    var captured = recording.next();
    return captured == null ? null : captured.request();
  }

  private void readLine(JsonNode line) {
    var event = line.has("event") ? rows.object(line, "event") : line;
    var schema = rows.text(event, "schema");
    if (!schema.equals(SCHEMA)) {
      throw rows.error("schema is '" + schema + "'", "only " + SCHEMA + " can be read");
    }
    if (!rows.text(event, "event_type").equals("request_end")) return;
    var request = rows.object(event, "request");
    recording.add(
        new Captured(
            request(event.path("agent_context"), request),
            request.path("worker").path("decode_worker_id").asString(""),
            rows.nanosIfAny(request, "ttft_ms", NANOS_PER_MILLI),
            rows.nanosIfAny(request, "total_time_ms", NANOS_PER_MILLI),
            rows.tokensIfAny(request, "cached_tokens")));
  }

  private Request request(JsonNode agent, JsonNode request) {
    int prompt = rows.tokens(request, "input_tokens", 1);
    var id = rows.text(request, "request_id");
    var session = rows.text(agent, "session_id");
    long own = index++;
    var content = content(request.path("replay"), prompt, own);
    return new Request(
        id.isEmpty() ? RowReader.id(own) : id,
        rows.nanos(request, "request_received_ms", NANOS_PER_MILLI),
        prompt,
        rows.tokens(request, "output_tokens", 0),
        content,
        TraceCaller.ofModel(rows.text(request, "model")),
        session.isEmpty() ? Turn.ALONE : new Turn(session, 0, 0),
        0);
  }

  private Content content(JsonNode replay, int prompt, long own) {
    var hashes = replay.path("input_sequence_hashes");
    if (hashes.isEmpty()) return Content.unique(own);
    var ids = new long[hashes.size()];
    for (int block = 0; block < ids.length; block++) {
      var hash = hashes.path(block);
      if (!hash.isIntegralNumber()) throw rows.missing("input_sequence_hashes", "whole numbers");
      ids[block] = hash.bigIntegerValue().longValue();
    }
    int tokensPerId = rows.tokens(replay, "trace_block_size", 1);
    return blockIds.content(ids, tokensPerId, prompt, prompt, own);
  }
}
