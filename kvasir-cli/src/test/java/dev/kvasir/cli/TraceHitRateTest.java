package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.process.ExitCode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests how much routing finds cached of a recorded day of conversations over eight instances, by
 * the command that a user would run: requests take their time, and caches are those of the engines.
 */
@Tag("all")
class TraceHitRateTest {
  @Test
  void balancedFindsMoreThanAThirdOfThePromptTokens() {
    assertThat(found("balanced")).isBetween(0.335, 0.36);
  }

  @Test
  void roundRobinFindsAboutAnEighth() {
    assertThat(found("round-robin")).isBetween(0.10, 0.13);
  }

  private static double found(String routing) {
    var trace = Shared.path("traces/mooncake/conversation_trace.jsonl");
    var line =
        "simulate --json --instances 8 --block-size 512 --total-kv-blocks 5859 --routing %s --trace"
            .formatted(routing);
    var args = (line + " " + trace).split(" ", -1);
    var out = new StringWriter();
    var err = new StringWriter();
    int code = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), Map.of(), args);
    assertThat(code).as(err.toString()).isEqualTo(ExitCode.OK);
    return JsonMapper.shared().readTree(out.toString()).path("token_hit_rate").asDouble();
  }
}
