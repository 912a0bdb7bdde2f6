package dev.kvasir.kv.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

final class ExtraKeyTest {
  @Test
  void emptyNegativeAndEndlessRunsAreRefusedWithTheirValues() {
    assertThatThrownBy(() -> new ExtraKey("cat", 3, 0)).hasMessage("length 0 at offset 3");
    assertThatThrownBy(() -> new ExtraKey("cat", 3, -2)).hasMessage("length -2 at offset 3");
    assertThatThrownBy(() -> new ExtraKey("cat", -1, 2)).hasMessage("offset -1");
    assertThatThrownBy(() -> new ExtraKey("cat", 2, Integer.MAX_VALUE - 1))
        .hasMessage("length 2147483646 at offset 2");
    assertThat(new ExtraKey("cat", 1, Integer.MAX_VALUE - 1).end()).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void contentIsTextAndNotEmpty() {
    assertThatThrownBy(() -> new ExtraKey("", 0, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new ExtraKey("\uDC00", 0, 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aRunOverlapsExactlyTheRangesThatShareATokenWithIt() {
    var key = new ExtraKey("cat", 4, 3);
    assertThat(key.overlaps(0, 4)).isFalse();
    assertThat(key.overlaps(0, 5)).isTrue();
    assertThat(key.overlaps(5, 6)).isTrue();
    assertThat(key.overlaps(6, 9)).isTrue();
    assertThat(key.overlaps(7, 9)).isFalse();
  }

  @Test
  void runsInSequenceMayTouchButNeitherOverlapNorGoBack() {
    var cat = new ExtraKey("cat", 4, 3);
    var dog = new ExtraKey("dog", 7, 1);
    var owl = new ExtraKey("owl", 6, 5);
    ExtraKey.requireSorted(List.of(cat, dog));
    assertThatThrownBy(() -> ExtraKey.requireSorted(List.of(dog, cat)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(cat + " after " + dog);
    assertThatThrownBy(() -> ExtraKey.requireSorted(List.of(cat, owl)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
