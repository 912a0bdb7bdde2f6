package dev.kvasir.gateway.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class WorkerTest {
  @Test
  void aPasswordInAUrlIsRefusedAndNotRepeated() {
    for (var url : List.of("http://user:hush@host:8000", "http://hush@host", "ftp://u:hush@h")) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Worker.of(url))
          .withMessageContaining("worker-key")
          .withMessageNotContaining("hush");
    }
  }

  @Test
  void aPortThatCannotBeIsRefused() {
    for (var url : List.of("http://host:99999", "http://host:0", "http://host:65536")) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Worker.of(url))
          .withMessageContaining("expected 1 to 65535");
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Worker.of("http://h:1").by(Connector.MOONCAKE, "h:70000"))
        .withMessageContaining("h:70000");
    assertThat(Worker.of("http://host").port()).isEqualTo(80);
    assertThat(Worker.of("https://host:65535").port()).isEqualTo(65_535);
  }

  @Test
  void onlySchemeHostAndPortMakeAWorker() {
    for (var url : List.of("http://h:1/v1", "http://h:1?a=b", "http://h:1#a", "h:1", "file:///x")) {
      assertThatIllegalArgumentException().as(url).isThrownBy(() -> Worker.of(url));
    }
  }
}
