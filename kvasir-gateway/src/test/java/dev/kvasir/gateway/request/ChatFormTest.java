package dev.kvasir.gateway.request;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.net.Json;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class ChatFormTest {
  private static final String CHAT =
      """
      {"model":"tiny","messages":[{"role":"system","content":"Be kind."},
       {"role":"user","content":"hi"},
       {"role":"assistant","tool_calls":[{"id":"t","type":"function",
        "function":{"name":"f","arguments":"{\\"a\\":1}"}}]},
       {"role":"tool","tool_call_id":"t","content":"done"}],
       "tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}
      """;

  @Test
  void messagesBecomeTheirChat() {
    var body =
        """
        {"model":"tiny","max_tokens":3,
         "system":[{"type":"text","text":"x-anthropic-billing-header: 1"},
          {"type":"text","text":"Be "},{"type":"text","text":"kind."}],
         "messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},
          {"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"a":1}}]},
          {"role":"user","content":[{"type":"tool_result","tool_use_id":"t",
           "content":[{"type":"text","text":"done"}]}]}],
         "tools":[{"name":"f","input_schema":{"type":"object"}}]}
        """;
    assertThat(chat(ApiPath.MESSAGES, body)).isEqualTo(read(CHAT));
  }

  @Test
  void responsesBecomeTheirChat() {
    var body =
        """
        {"model":"tiny","instructions":"Be kind.","input":[{"role":"user","content":"hi"},
         {"type":"function_call","call_id":"t","name":"f","arguments":"{\\"a\\":1}"},
         {"type":"function_call_output","call_id":"t","output":"done"}],
         "tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]}
        """;
    assertThat(chat(ApiPath.RESPONSES, body)).isEqualTo(read(CHAT));
  }

  @Test
  void severalTextsStayPartsAndAnAnswerIsOneText() {
    var body =
        """
        {"input":[{"role":"user","content":[{"type":"input_text","text":"a"},
          {"type":"input_text","text":"b"}]},
         {"type":"message","role":"assistant","status":"completed",
          "content":[{"type":"output_text","text":"c"}]}]}
        """;
    assertThat(chat(ApiPath.RESPONSES, body).path("messages"))
        .isEqualTo(
            read(
                """
                [{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
                 {"role":"assistant","content":"c"}]
                """));
  }

  @Test
  void whatTemplatesMayTreatDifferentlyIsNotKnown() {
    for (var body :
        List.of(
            "{}",
            "{\"messages\":[{\"role\":\"system\",\"content\":\"a\"}]}",
            "{\"messages\":[],\"thinking\":{\"type\":\"enabled\"}}",
            "{\"messages\":[],\"output_config\":{\"effort\":\"low\"}}",
            "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image\"}]}]}")) {
      assertThat(ChatForm.of(ApiPath.MESSAGES, fields(body))).as(body).isNull();
    }
    for (var body :
        List.of(
            "{}",
            "{\"input\":\"a\",\"previous_response_id\":\"r\"}",
            "{\"input\":\"a\",\"reasoning\":{\"effort\":\"low\"}}",
            "{\"input\":\"a\",\"tools\":[{\"type\":\"web_search\"}]}",
            "{\"input\":[{\"type\":\"reasoning\"}]}",
            "{\"input\":[{\"role\":\"assistant\",\"status\":\"incomplete\"}]}")) {
      assertThat(ChatForm.of(ApiPath.RESPONSES, fields(body))).as(body).isNull();
    }
    assertThat(ChatForm.of(ApiPath.RERANK, fields("{}"))).isNull();
  }

  private static JsonNode chat(ApiPath path, String body) {
    return Json.read(Objects.requireNonNull(ChatForm.of(path, fields(body))));
  }

  private static RequestFields fields(String body) {
    return RequestFields.of(body.getBytes(UTF_8));
  }

  private static JsonNode read(String json) {
    return Json.read(json.getBytes(UTF_8));
  }
}
