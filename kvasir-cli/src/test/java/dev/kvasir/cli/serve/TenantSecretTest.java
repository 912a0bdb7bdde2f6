package dev.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TenantSecretTest {
  @TempDir private Path temp;

  @Test
  void aNewOneAndItsFolderAreForTheirOwnerAlone() throws IOException {
    var folder = temp.resolve("a/b");
    TenantSecret.in(folder);
    assertThat(mode(TenantSecret.file(folder))).isEqualTo("rw-------");
    assertThat(mode(folder)).isEqualTo("rwx------");
    assertThat(mode(temp.resolve("a"))).isEqualTo("rwx------");
  }

  @Test
  void oneThatOthersCouldReadOrWriteIsRefused() throws IOException {
    TenantSecret.in(temp);
    for (var mode : List.of("rw-rw-rw-", "rw----r--", "rw--w----")) {
      var file = TenantSecret.file(temp);
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
      assertThatIllegalArgumentException()
          .isThrownBy(() -> TenantSecret.in(temp))
          .withMessageContaining(mode)
          .withMessageContaining("chmod 600");
    }
  }

  @Test
  void aLinkIsRefused() throws IOException {
    var elsewhere = Files.writeString(temp.resolve("elsewhere"), "known to all\n");
    Files.setPosixFilePermissions(elsewhere, PosixFilePermissions.fromString("rw-------"));
    Files.createSymbolicLink(TenantSecret.file(temp), elsewhere);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TenantSecret.in(temp))
        .withMessageContaining("link");
    Files.delete(elsewhere);
    assertThatIllegalArgumentException().isThrownBy(() -> TenantSecret.in(temp));
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }
}
