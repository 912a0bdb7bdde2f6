package dev.kvasir.sim.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.sim.Shared;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Turn;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class TraceTest {
  private static final TraceOptions USUAL = TraceOptions.USUAL;

  @Test
  void mooncakeConversationHasTheFactsOfItsRecord() {
    var trace = shared("traces/mooncake/conversation_trace.jsonl", USUAL.withWholeTails());
    assertThat(trace.format()).isEqualTo(TraceFormat.MOONCAKE);
    var requests = all(trace);
    assertThat(requests).hasSize(12_031);
    assertThat(requests.getFirst().arrivalNanos()).isZero();
    assertThat(requests.getLast().arrivalNanos()).isEqualTo(3_536_999_000_000L);
    assertThat(requests.stream().mapToLong(Request::outputTokens).sum()).isEqualTo(4_122_048);
    assertThat(distinct(requests)).isEqualTo(182_790);
    assertThat(
            requests.stream().mapToLong(request -> Math.ceilDiv(request.promptTokens(), 512)).sum())
        .isEqualTo(288_500);
  }

  @Test
  void promptsAreAsLongAsWritten() {
    var requests = all(shared("traces/mooncake/conversation_trace.jsonl", USUAL));
    assertThat(requests.stream().mapToLong(Request::promptTokens).sum()).isEqualTo(144_793_823);
  }

  @Test
  void dynamosMooncakeTraceHasTheFactsOfItsRecord() {
    var requests = all(shared("traces/dynamo/mooncake_trace_1000.jsonl", USUAL.withWholeTails()));
    assertThat(requests).hasSize(1000);
    assertThat(distinct(requests)).isEqualTo(12_207);
    assertThat(requests.getLast().arrivalNanos()).isEqualTo(177_098_000_000L);
  }

  private static int distinct(List<Request> requests) {
    var names = new HashSet<BlockHash>();
    for (var request : requests) {
      var cursor = request.content().names(512, 0);
      for (int block = 0; block < Math.ceilDiv(request.promptTokens(), 512); block++)
        names.add(cursor.next());
    }
    return names.size();
  }

  @Test
  void azureTraceBeginsWithItsFirstRow() {
    var trace = shared("traces/azure/AzureLLMInferenceTrace_code.csv", USUAL);
    assertThat(trace.format()).isEqualTo(TraceFormat.AZURE);
    var requests = all(trace);
    assertThat(requests).hasSize(8819);
    assertThat(requests.getFirst())
        .isEqualTo(Request.of("request_0", 0, 4808, 10, Content.unique(0)));
    assertThat(requests.get(1).arrivalNanos()).isEqualTo(52_000_000);
    assertThat(requests.getLast().arrivalNanos()).isEqualTo(3_435_948_056_000L);
    assertThat(requests.stream().mapToLong(Request::promptTokens).sum()).isEqualTo(18_059_974);
    assertThat(requests.stream().mapToLong(Request::outputTokens).sum()).isEqualTo(245_896);
  }

  @Test
  void dynamoRequestsAreReadInOrderOfArrivalAndToolsLeftOut() {
    var trace = shared("traces/dynamo/pi_request_trace.jsonl.gz", USUAL);
    assertThat(trace.format()).isEqualTo(TraceFormat.DYNAMO);
    var requests = all(trace);
    assertThat(requests).hasSize(17);
    assertThat(requests.stream().mapToLong(Request::promptTokens).sum()).isEqualTo(66_520);
    assertThat(requests.stream().mapToLong(Request::outputTokens).sum()).isEqualTo(8094);
    var root = requests.stream().filter(request -> request.turn().session().endsWith("Z:root"));
    var rounds = root.toList();
    assertThat(rounds).extracting(request -> request.turn().round()).containsExactly(0, 1, 2, 3, 4);
    var first = rounds.getFirst().content().names(16, 0);
    var second = rounds.get(1).content().names(16, 0);
    for (int block = 0; block < 290; block++) assertThat(second.next()).isEqualTo(first.next());
  }

  @Test
  void everyTraceOfTheOracleIsRead() {
    long requests = 0;
    for (var name :
        List.of("burst120", "deadline100", "mixed200", "prefix240", "slo160", "tiny5")) {
      requests += all(blis(name)).size();
    }
    assertThat(requests).isEqualTo(120 + 100 + 200 + 240 + 160 + 5);
  }

  @Test
  void blisRowsKeepTheirGroupsClassesAndDeadlines() {
    var prefixed = all(blis("prefix240")).get(1);
    assertThat(prefixed.id()).isEqualTo("request_1");
    assertThat(prefixed.arrivalNanos()).isEqualTo(300_278_000);
    assertThat(prefixed.promptTokens()).isEqualTo(728);
    assertThat(prefixed.content()).isEqualTo(Content.shared(Content.number("g2"), 128, 1));
    var classed = all(blis("slo160")).get(2);
    assertThat(classed.caller().tenant()).isEqualTo("c");
    assertThat(classed.caller().sloClass()).isEqualTo("background");
    assertThat(all(blis("deadline100")).getFirst().deadlineNanos()).isEqualTo(3_021_270_000L);
    assertThat(all(blis("session12")).get(12).turn()).isEqualTo(new Turn("s1", 1, 0));
  }

  @Test
  void blisSendTimeAndServerCountGoFirst() {
    var requests =
        all(
            text(
                """
                request_id,prefix_group,prefix_length,input_tokens,output_tokens,\
                server_input_tokens,arrival_time_us,send_time_us
                7,,0,10,1,14,5,9
                8,g,4,10,1,14,10,0
                9,g,6,10,1,0,11,0
                """));
    assertThat(requests)
        .extracting(Request::id)
        .containsExactly("request_7", "request_8", "request_9");
    assertThat(requests).extracting(Request::arrivalNanos).containsExactly(9000L, 10_000L, 11_000L);
    assertThat(requests).extracting(Request::promptTokens).containsExactly(14, 14, 14);
  }

  @Test
  void blisSessionsThatAccumulateGrowByWhatWasSaid() {
    var rows =
        """
        request_id,session_id,round_index,input_tokens,output_tokens,arrival_time_us,think_time_us
        0,s,0,100,20,0,0
        1,s,1,30,5,50,7
        2,s,2,0,5,90,8
        """;
    var header = "trace_version: 3\ntime_unit: us\nsession_context_growth: accumulate\n";
    var requests = all(Trace.read(input("t.csv", rows), input("t.yaml", header), USUAL));
    assertThat(requests).extracting(Request::promptTokens).containsExactly(100, 150, 155);
    assertThat(requests).extracting(Request::content).containsOnly(requests.get(0).content());
    assertThat(requests.get(1).turn()).isEqualTo(new Turn("s", 1, 7000));
  }

  @Test
  void burstGptSessionsAreCounted() {
    var requests =
        all(
            text(
                """
                Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
                5,a,1.5,ChatGPT,472,18,490,Conversation log
                45.25,a,2,GPT-4,1087,230,1317,API log
                118,,2,GPT-4,417,0,417,"API, log"
                """));
    assertThat(requests)
        .extracting(Request::arrivalNanos)
        .containsExactly(5_000_000_000L, 45_250_000_000L, 118_000_000_000L);
    assertThat(requests).extracting(request -> request.turn().round()).containsExactly(0, 1, 0);
    assertThat(requests.get(2).turn()).isEqualTo(Turn.ALONE);
    assertThat(requests.get(2).outputTokens()).isZero();
  }

  @Test
  void vidurColumnsMayStandInAnyOrder() {
    var requests =
        all(text(",num_decode_tokens,arrived_at,num_prefill_tokens\r\n0,7,0.000001,300\r\n"));
    assertThat(requests).containsExactly(Request.of("request_0", 1000, 300, 7, Content.unique(0)));
  }

  @Test
  void timeIsScaledTheNumberLimitedAndTheOrderMended() {
    var text =
        """
        {"timestamp": 20, "input_length": 1, "output_length": 1, "hash_ids": [1]}

        {"timestamp": 10.5, "input_length": 2, "output_length": 1, "text_input": "x"}
        {"timestamp": 30, "input_length": 3, "output_length": 1, "extra": {"a": [1]}}
        """;
    var requests = all(Trace.read(input("t", text), USUAL.sorted().scaled(0.5).limited(2)));
    assertThat(requests).extracting(Request::promptTokens).containsExactly(2, 1);
    assertThat(requests).extracting(Request::arrivalNanos).containsExactly(5_250_000L, 10_000_000L);
  }

  @Test
  void mooncakeSessionsHaveRoundsAndDelays() {
    var requests =
        all(
            text(
                """
                {"timestamp": 20, "session_id": "s", "input_length": 9, "output_length": 1}
                {"delay": 500, "session_id": "s", "input_length": 9, "output_length": 1}
                """));
    assertThat(requests.get(1).turn()).isEqualTo(new Turn("s", 1, 500_000_000));
    assertThat(requests.get(1).arrivalNanos()).isEqualTo(20_000_000);
  }

  @Test
  void captureIsReadInOrderOfArrivalWithWhatWasMeasured() {
    var text =
        """
        {"schema":"kvasir.capture.v1","id":"b","arrival_us":1000500,"prompt_tokens":40,\
        "output_tokens":8,"block_tokens":16,"blocks":["00000000000000aa","ffffffffffffffff",\
        "0000000000000001"],"session":"s","tenant":"t","class":"chat","instance":"i1",\
        "ttft_us":100,"e2e_us":200,"cached_tokens":16}
        {"schema":"kvasir.capture.v1","id":"a","arrival_us":1000000,"prompt_tokens":20,\
        "output_tokens":8,"block_tokens":16,"blocks":["00000000000000aa"],"session":"s",\
        "e2e_us":300}
        """;
    var requests = all(text(text));
    assertThat(requests).extracting(Request::id).containsExactly("a", "b");
    assertThat(requests).extracting(Request::arrivalNanos).containsExactly(0L, 500_000L);
    assertThat(requests.get(1).turn()).isEqualTo(new Turn("s", 1, 200_000));
    assertThat(requests.get(1).caller().sloClass()).isEqualTo("chat");
    assertThat(requests.get(1).content().names(16, 0).next())
        .isEqualTo(requests.get(0).content().names(16, 0).next());
    var reader = CaptureReader.of(input("t", text));
    assertThat(reader.nextCaptured()).extracting(Captured::e2eNanos).isEqualTo(300_000L);
    assertThat(reader.nextCaptured()).extracting(Captured::cachedTokens).isEqualTo(16);
    assertThat(reader.nextCaptured()).isNull();
  }

  @Test
  void promptsAreAsLongAsTheWorkerSays() {
    var line =
        "{\"schema\":\"kvasir.capture.v1\",\"id\":\"a\",\"arrival_us\":0,\"prompt_tokens\":48,"
            + "\"told_prompt_tokens\":40,\"output_tokens\":8,\"block_tokens\":16,\"blocks\":"
            + "[\"00000000000000aa\",\"00000000000000ab\",\"00000000000000ac\"]}";
    var request = all(text(line)).getFirst();
    assertThat(request.promptTokens()).isEqualTo(40);
    assertThat(request.content().namedTokens()).isEqualTo(40);
    assertThatThrownBy(() -> all(text(line.replace(":40,", ":4,"))))
        .hasMessageContaining("a prompt of 48 tokens has 4 by the worker");
  }

  /** Requests whose first ten blocks are the same and of which the engine had so many tokens. */
  private static String alike(int count, int cached) {
    var lines = new StringBuilder();
    for (int i = 0; i < count; i++) {
      lines.append("{\"schema\":\"kvasir.capture.v1\",\"id\":\"").append(i);
      lines.append("\",\"arrival_us\":").append(i).append(",\"prompt_tokens\":320,");
      lines.append("\"output_tokens\":8,\"block_tokens\":16,\"blocks\":[");
      for (int block = 0; block < 20; block++) {
        int name = block < 10 ? block : 100 * (i + 1) + block;
        lines.append(String.format(block == 0 ? "\"%016x\"" : ",\"%016x\"", name));
      }
      lines.append("],\"e2e_us\":9,\"cached_tokens\":").append(i == 0 ? 0 : cached).append("}\n");
    }
    return lines.toString();
  }

  @Test
  void promptsThatWereCountedByTheirBytesAreShortened() {
    // 160 to 175 of what was named are 128 to 143 tokens: 1.24 times too long.
    var capture = CaptureReader.of(input("t", alike(12, 128))).readAll();
    assertThat(capture.notes()).singleElement().asString().contains("12 prompts", "1.24 times");
    for (var each : capture.requests()) {
      assertThat(each.request().promptTokens()).isBetween(257, 259);
      boolean isFirst = each == capture.requests().getFirst();
      assertThat(each.cachedTokens()).isEqualTo(isFirst ? 0 : 128);
    }
    var names = capture.requests().getFirst().request().content();
    assertThat(names.commonTokens(capture.requests().getLast().request().content())).isEqualTo(129);
    // What the engine may have found by these names, and too few requests, say nothing.
    for (var text : List.of(alike(12, 160), alike(12, 144), alike(5, 128), alike(12, 0))) {
      var other = CaptureReader.of(input("t", text)).readAll();
      assertThat(other.notes()).isEmpty();
      assertThat(other.requests().getFirst().request().promptTokens()).isEqualTo(320);
    }
  }

  @Test
  void formatsAreFoundByTheirTitles() {
    for (var format : TraceFormat.values()) {
      assertThat(TraceFormat.titled(format.title())).isEqualTo(format);
    }
    assertThatThrownBy(() -> TraceFormat.titled("mooncacke"))
        .hasMessage("no trace format is called 'mooncacke'; did you mean 'mooncake'?");
  }

  private static Trace blis(String name) {
    var folder = "oracle/blis/traces/" + name;
    return Trace.read(
        new TraceInput(name + ".csv", Shared.open(folder + ".csv")),
        new TraceInput(name + ".yaml", Shared.open(folder + ".yaml")),
        USUAL);
  }

  private static Trace shared(String name, TraceOptions options) {
    return Trace.read(new TraceInput(name, Shared.open(name)), options);
  }

  private static Trace text(String text) {
    return Trace.read(input("t", text), USUAL);
  }

  private static TraceInput input(String name, String text) {
    return new TraceInput(name, new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static List<Request> all(Trace trace) {
    var requests = new ArrayList<Request>();
    trace.forEachRemaining(requests::add);
    return requests;
  }
}
