package dev.kvasir.gateway.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ApiPathTest {
  private static final List<String> SPELLINGS =
      List.of(
          "/v1/%63hat/completions",
          "/v1/%2563hat/completions",
          "//v1/chat/completions",
          "/v1//chat/completions",
          "/./v1/chat/completions",
          "/x/../v1/chat/completions",
          "/x/%2e%2e/v1/chat/completions",
          "/v1/chat/completions/",
          "/v1/chat/completions#x",
          "/v1/chat/completions%23x",
          "/v1/chat/completions%3fx",
          "/v1/chat;a=b/completions",
          "/v1/chat/completions;x",
          "/v1%2fchat%2Fcompletions",
          "/v1\\chat/completions",
          "/v1/%5cchat/completions",
          "/V1/Chat/Completions",
          "v1/chat/completions",
          "/v1/chat/completions%20");

  @Test
  void aPathIsOnlyItsOwnLetters() {
    assertThat(ApiPath.find("/v1/chat/completions")).isEqualTo(ApiPath.CHAT);
    for (var path : SPELLINGS) {
      assertThat(ApiPath.find(path)).as(path).isNull();
      assertThat(ApiPath.isMeantBy(path)).as(path).isTrue();
    }
  }

  @Test
  void otherPathsMeanNoneOfThem() {
    for (var path :
        List.of("/", "", "/v1/models", "/v1/chat", "/files/%2e", "/%", "/%zz", "/v1/%6")) {
      assertThat(ApiPath.isMeantBy(path)).as(path).isFalse();
    }
  }
}
