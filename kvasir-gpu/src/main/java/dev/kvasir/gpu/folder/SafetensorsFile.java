package dev.kvasir.gpu.folder;

import dev.kvasir.model.gguf.ModelFileException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A file of tensors: eight bytes that say how long the head is, the head in JSON, the numbers.
 *
 * <p>Every length and offset is checked before it is used.
 *
 * @param bytes the whole file, mapped
 */
record SafetensorsFile(Path path, MemorySegment bytes, SequencedMap<String, Entry> entries) {
  private static final long HEAD_BYTES_MAX = 100L << 20;
  private static final ValueLayout.OfLong LENGTH =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** A tensor: how its numbers are written, its sizes, the one along a row last, and where. */
  record Entry(String type, List<Long> sizes, MemorySegment bytes) {}

  /** Maps the file for as long as the arena is open. */
  static SafetensorsFile open(Path path, Arena arena) throws ModelFileException {
    if (!Files.isRegularFile(path)) throw wrong(path, "there is no such file");
    try (var channel = FileChannel.open(path, StandardOpenOption.READ)) {
      long size = channel.size();
      if (size < LENGTH.byteSize()) throw wrong(path, "it has " + size + " bytes");
      var bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, size, arena);
      long head = bytes.get(LENGTH, 0);
      if (head < 2 || head > HEAD_BYTES_MAX || head > size - LENGTH.byteSize()) {
        throw wrong(path, "its head is to have " + head + " of " + size + " bytes");
      }
      var text = bytes.asSlice(LENGTH.byteSize(), head).toArray(ValueLayout.JAVA_BYTE);
      var numbers = bytes.asSlice(LENGTH.byteSize() + head);
      return new SafetensorsFile(path, bytes, entries(path, text, numbers));
    } catch (ModelFileException broken) {
      throw broken;
    } catch (IOException unreadable) {
      throw wrong(path, "it cannot be read (" + unreadable + ")");
    }
  }

  /** The content of a file beside the tensors. */
  static JsonNode json(Path file, long bytesMax) throws ModelFileException {
    if (!Files.isRegularFile(file)) throw wrong(file, "there is no such file");
    try {
      if (Files.size(file) > bytesMax) throw wrong(file, "it is too large");
      return JsonMapper.shared().readTree(Files.readAllBytes(file));
    } catch (JacksonException e) {
      throw wrong(file, "it is no JSON: " + e.getOriginalMessage());
    } catch (ModelFileException wrong) {
      throw wrong;
    } catch (IOException unreadable) {
      throw wrong(file, "it cannot be read (" + unreadable + ")");
    }
  }

  private static SequencedMap<String, Entry> entries(Path path, byte[] head, MemorySegment numbers)
      throws ModelFileException {
    JsonNode json;
    try {
      json = JsonMapper.shared().readTree(head);
    } catch (JacksonException e) {
      throw wrong(path, "its head is no JSON: " + e.getOriginalMessage());
    }
    var entries = new LinkedHashMap<String, Entry>();
    for (var each : json.properties()) {
      if (each.getKey().equals("__metadata__")) continue;
      entries.put(each.getKey(), entry(path, each.getKey(), each.getValue(), numbers));
    }
    return entries;
  }

  private static Entry entry(Path path, String name, JsonNode json, MemorySegment numbers)
      throws ModelFileException {
    var sizes = new ArrayList<Long>();
    for (var size : json.path("shape")) sizes.add(size.asLong(-1));
    long begin = json.path("data_offsets").path(0).asLong(-1);
    long end = json.path("data_offsets").path(1).asLong(-1);
    if (begin < 0 || end < begin || end > numbers.byteSize()) {
      throw wrong(
          path,
          "tensor %s lies at %d to %d of %d bytes".formatted(name, begin, end, numbers.byteSize()));
    }
    var type = json.path("dtype").asString("");
    return new Entry(type, List.copyOf(sizes), numbers.asSlice(begin, end - begin));
  }

  static ModelFileException wrong(Path path, String wrong) {
    return new ModelFileException(path, wrong, "use a complete Llama, Qwen2 or Qwen3 model");
  }
}
