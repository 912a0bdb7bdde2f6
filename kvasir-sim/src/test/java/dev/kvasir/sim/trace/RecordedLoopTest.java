package dev.kvasir.sim.trace;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.sim.Shared;
import dev.kvasir.sim.workload.ClosedLoop;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Replays a closed loop against what another simulator recorded of the same one. */
class RecordedLoopTest {
  @Test
  void questionsComeWhenTheyCameInTheRecordedRun() {
    var recorded = new TreeMap<String, JsonNode>();
    var metrics = Shared.open("oracle/blis/results/h50_closed_loop.metrics.json");
    for (var request : JsonMapper.shared().readTree(metrics).path("requests")) {
      var session = request.path("session_id").asString();
      recorded.put(session + "." + request.path("round_index").asInt(0), request);
    }
    var loop =
        ClosedLoop.thinking(
            Trace.read(
                new TraceInput("session12.csv", Shared.open("oracle/blis/traces/session12.csv")),
                TraceOptions.USUAL),
            Duration.ofMillis(500));
    int count = 0;
    for (var first = loop.next(); first != null; first = loop.next()) {
      for (var current = first; current != null; count++) {
        var turn = current.turn();
        var was = requireNonNull(recorded.get(turn.session() + "." + turn.round()));
        assertThat(current.arrivalNanos()).isEqualTo(nanos(was, "arrived_at", 9));
        assertThat(current.promptTokens()).isEqualTo(was.path("num_prefill_tokens").asInt());
        assertThat(current.outputTokens()).isEqualTo(was.path("num_decode_tokens").asInt());
        current = loop.after(current, current.arrivalNanos() + nanos(was, "e2e_ms", 6));
      }
    }
    assertThat(count).isEqualTo(recorded.size()).isEqualTo(39);
  }

  private static long nanos(JsonNode request, String field, int digits) {
    return new BigDecimal(request.path(field).asString()).movePointRight(digits).longValueExact();
  }
}
