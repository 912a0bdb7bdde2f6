package dev.kvasir.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DoctorTest {

  @Test
  void everyCheckSaysWhatWasFoundAndWhatFollows(@TempDir Path folder) {
    List<Check> checks = Doctor.look(folder);

    assertThat(checks)
        .extracting(Check::name)
        .containsExactly("jdk", "cores", "memory", "vector", "cache", "direct-io");
    assertThat(checks).extracting(Check::status).doesNotContain(Status.MISSING);
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void aCheckThatSaysNothingIsRefused() {
    assertThatThrownBy(() -> new Check("name", Status.OK, "", "nothing", new LinkedHashMap<>()))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
