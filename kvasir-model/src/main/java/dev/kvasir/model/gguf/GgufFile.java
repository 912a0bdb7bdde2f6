package dev.kvasir.model.gguf;

import dev.kvasir.kv.name.Sha256;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.SequencedMap;

/**
 * A model file in the GGUF format, mapped read-only.
 *
 * <p>Every length, count, offset and size in it is checked before it is used; what does not fit is
 * a {@link ModelFileException}. The tensors are readable until it is closed.
 */
public final class GgufFile implements AutoCloseable {
  private static final int DIGEST_BYTES = 1 << 20;

  private final Path path;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment bytes;
  private final Metadata metadata;
  private final SequencedMap<String, Tensor> tensors;

  private GgufFile(Path path, FileChannel channel) throws IOException {
    this.path = path;
    try {
      this.bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
      var head = new GgufHead(path, bytes);
      this.tensors = head.read();
      this.metadata = head.metadata();
    } catch (IOException | RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  /** Maps the file and reads its head. */
  public static GgufFile open(Path path) throws ModelFileException {
    if (!Files.isRegularFile(path)) {
      throw new ModelFileException(
          path, "there is no such file", "name a model in the GGUF format");
    }
    try (var channel = FileChannel.open(path, StandardOpenOption.READ)) {
      return new GgufFile(path, channel);
    } catch (ModelFileException broken) {
      throw broken;
    } catch (IOException unreadable) {
      throw new ModelFileException(
          path, "it cannot be read (" + unreadable + ")", "check the file and its permissions");
    }
  }

  public Path path() {
    return path;
  }

  public Metadata metadata() {
    return metadata;
  }

  public boolean has(String tensor) {
    return tensors.containsKey(tensor);
  }

  /** The tensor of that name, which must have exactly these sizes. */
  public Tensor tensor(String name, int... sizes) throws ModelFileException {
    var tensor = tensors.get(name);
    if (tensor == null) {
      throw wrong("it has no tensor " + name);
    }
    if (!tensor.is(sizes)) {
      throw wrong(
          "tensor %s has the shape %s, expected %s"
              .formatted(name, tensor.dimensions(), Arrays.toString(sizes)));
    }
    return tensor;
  }

  /** The checksum of the whole file, which names its weights like nothing else does. */
  public String sha256() {
    var digest = Sha256.digest();
    for (long at = 0; at < bytes.byteSize(); at += DIGEST_BYTES) {
      long count = Math.min(DIGEST_BYTES, bytes.byteSize() - at);
      digest.update(bytes.asSlice(at, count).asByteBuffer());
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  /** Returns an exception that says what is wrong with the model in this file. */
  public ModelFileException wrong(String wrong) {
    return new ModelFileException(
        path, wrong, "use a Llama, Qwen2 or Qwen3 model that was converted completely");
  }

  @Override
  public void close() {
    if (arena.scope().isAlive()) arena.close();
  }
}
