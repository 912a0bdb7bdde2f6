package dev.kvasir.net.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.net.Refused;
import java.util.List;
import org.junit.jupiter.api.Test;

class ModelNameTest {
  @Test
  void aNameInAPathIsDecodedOnce() {
    assertThat(ModelName.of("/v1/models/a/b")).isEqualTo("a/b");
    assertThat(ModelName.of("/v1/models/a%2Fb%20c+d")).isEqualTo("a/b c+d");
    assertThat(ModelName.of("/v1/models/%2561")).isEqualTo("%61");
  }

  @Test
  void aNameThatCannotBeDecodedOrIsTooLongIsRefused() {
    for (var name : List.of("%", "%z1", "a%2", "%-1", "x".repeat(257))) {
      assertThatThrownBy(() -> ModelName.of("/v1/models/" + name))
          .as(name)
          .isInstanceOf(Refused.class);
    }
  }
}
