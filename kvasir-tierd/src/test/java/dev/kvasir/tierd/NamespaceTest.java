package dev.kvasir.tierd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.tierd.protocol.Namespace;
import org.junit.jupiter.api.Test;

class NamespaceTest {
  private static final BlockHash HASH = new BlockHash(1, 2, 3, 4);

  @Test
  void aBlockHasAnotherNameInEachNamespaceAndGroup() {
    var one = Namespace.parse(TierClient.namespace("aa"));
    var other = Namespace.parse(TierClient.namespace("ab"));
    assertThat(one.mixed(HASH, 0)).isNotEqualTo(other.mixed(HASH, 0));
    assertThat(one.mixed(HASH, 0)).isNotEqualTo(one.mixed(HASH, 1));
    assertThat(one.mixed(one.mixed(HASH, 7), 7)).isEqualTo(HASH);
    assertThat(one.layout()).isNotEqualTo(other.layout());
    assertThat(one.id()).hasSize(16).isNotEqualTo(other.id());
  }

  @Test
  void theTextIsReadStrictly() {
    var good = "chunk-tokens=16\nmodel=m\nrow-bytes=8\nweights=weak:ab";
    assertThat(Namespace.parse(good).isStrong()).isFalse();
    assertThat(Namespace.parse(good).rowBytes()).isEqualTo(8);
    assertThatThrownBy(() -> Namespace.parse(good.replace("weights=weak:ab", "")))
        .hasMessageContaining("weights");
    assertThatThrownBy(() -> Namespace.parse(good + "\nmodel=again"))
        .hasMessageContaining("'model' after 'weights'");
    assertThatThrownBy(() -> Namespace.parse(good.replace("=8", "=-8")))
        .hasMessageContaining("row-bytes=-8");
    assertThatThrownBy(() -> Namespace.parse(good + "\nx")).hasMessageContaining("key=value");
  }
}
