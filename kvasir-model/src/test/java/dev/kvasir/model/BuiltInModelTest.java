package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.model.gguf.ModelFileException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BuiltInModelTest {
  @TempDir Path folder;

  @Test
  void itIsCopiedOnceAndReplacedWhenDamaged() throws IOException {
    var file = BuiltInModel.file(folder);
    var bytes = Files.readAllBytes(file);
    var time = Files.getLastModifiedTime(file);
    assertThat(BuiltInModel.file(folder)).isEqualTo(file);
    assertThat(Files.getLastModifiedTime(file)).isEqualTo(time);
    var damaged = bytes.clone();
    damaged[5_000_000] ^= 1;
    Files.write(file, damaged);
    assertThat(Files.readAllBytes(BuiltInModel.file(folder))).isEqualTo(bytes);
    try (var models = Files.list(file.getParent())) {
      assertThat(models).as("nothing else is left there").containsExactly(file);
    }
  }

  @Test
  void aFolderThatCannotBeWrittenIsNamed() throws IOException {
    var blocked = Files.write(folder.resolve("file"), new byte[1]);
    assertThatThrownBy(() -> BuiltInModel.file(blocked))
        .isInstanceOf(ModelFileException.class)
        .hasMessageContaining("XDG_CACHE_HOME");
  }
}
