package dev.kvasir.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class CacheFolderTest {
  private static final Path USER_HOME = Path.of("/home/from-the-account");

  @Test
  void itFollowsTheXdgSpecification() {
    assertThat(CacheFolder.usual(Map.of("XDG_CACHE_HOME", "/caches", "HOME", "/h"), USER_HOME))
        .isEqualTo(Path.of("/caches/kvasir"));
    assertThat(CacheFolder.usual(Map.of("XDG_CACHE_HOME", "relative", "HOME", "/h"), USER_HOME))
        .isEqualTo(Path.of("/h/.cache/kvasir"));
  }

  @Test
  void withoutHomeTheAccountsHomeIsTaken() {
    assertThat(CacheFolder.usual(Map.of(), USER_HOME))
        .isEqualTo(Path.of("/home/from-the-account/.cache/kvasir"));
    assertThat(CacheFolder.usual(Map.of("HOME", "", "XDG_CACHE_HOME", ""), USER_HOME))
        .isEqualTo(Path.of("/home/from-the-account/.cache/kvasir"));
  }
}
