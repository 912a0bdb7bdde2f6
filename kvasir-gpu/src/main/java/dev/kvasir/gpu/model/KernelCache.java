package dev.kvasir.gpu.model;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.gpu.library.LibraryFailure;
import dev.kvasir.gpu.library.Nvrtc;
import dev.kvasir.kv.name.Sha256;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/**
 * Compiled kernels in a folder, each under the checksum of its text, its options and its compiler.
 *
 * <p>A folder that cannot be used costs the compilation and no more.
 */
public record KernelCache(Path folder) {
  private static final System.Logger LOG = System.getLogger(KernelCache.class.getName());

  byte[] compiled(Nvrtc compiler, String text, List<String> options) throws LibraryFailure {
    var key = compiler.description() + "\n" + String.join("\n", options) + "\n" + text;
    var file = folder.resolve(Sha256.hex(key.getBytes(StandardCharsets.UTF_8)) + ".cubin");
    try {
      if (Files.isRegularFile(file)) return Files.readAllBytes(file);
    } catch (IOException unreadable) {
      LOG.log(WARNING, "{0} cannot be read, so the kernels are compiled: {1}", file, unreadable);
    }
    var code = compiler.compile(text, options);
    try {
      Files.createDirectories(folder);
      var part = Files.createTempFile(folder, "kernels", ".part");
      Files.write(part, code);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException unwritable) {
      LOG.log(WARNING, "the compiled kernels cannot be kept in {0}: {1}", folder, unwritable);
    }
    return code;
  }
}
