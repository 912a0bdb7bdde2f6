package dev.kvasir.gpu.folder;

import dev.kvasir.model.ModelShape;
import dev.kvasir.model.gguf.GgufFile;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Writes the Llama model of a GGUF file as Hugging Face would have it. */
public final class FolderWriter {
  private static final List<String> PARTS =
      List.of(
          "attn_norm",
          "attn_q",
          "attn_k",
          "attn_v",
          "attn_output",
          "ffn_norm",
          "ffn_gate",
          "ffn_up",
          "ffn_down");

  private static final JsonMapper JSON = JsonMapper.shared();

  /** Format in which numbers are written. */
  public enum NumberType {
    F32,
    F16,
    BF16
  }

  @SuppressWarnings("ArrayRecordComponent")
  private record Written(String type, List<Long> sizes, byte[] bytes) {}

  private final Path folder;
  private final NumberType type;

  private FolderWriter(Path folder, NumberType type) {
    this.folder = folder;
    this.type = type;
  }

  /** Writes config, tokenizer and tensors, these to so many files. */
  public static void write(GgufFile file, Path folder, NumberType type, int files)
      throws IOException {
    Files.createDirectories(folder);
    var writer = new FolderWriter(folder, type);
    var shape = ModelShape.of(file, file.metadata().texts("tokenizer.ggml.tokens").size());
    Files.writeString(folder.resolve("config.json"), config(shape).toString());
    writer.tokenizer(file);
    writer.tensors(writer.read(file, shape), files);
  }

  private static ObjectNode config(ModelShape shape) {
    return JSON.createObjectNode()
        .put("model_type", "llama")
        .put("hidden_size", shape.width())
        .put("intermediate_size", shape.feedForward())
        .put("num_hidden_layers", shape.layers())
        .put("num_attention_heads", shape.heads())
        .put("num_key_value_heads", shape.kvHeads())
        .put("head_dim", shape.headSize())
        .put("max_position_embeddings", shape.contextTokens())
        .put("rms_norm_eps", (double) shape.epsilon())
        .put("rope_theta", (double) shape.ropeBase())
        .put("vocab_size", shape.vocabulary())
        .put("tie_word_embeddings", true)
        .put("eos_token_id", 2);
  }

  private void tokenizer(GgufFile file) throws IOException {
    var metadata = file.metadata();
    var json = JSON.createObjectNode();
    json.putNull("normalizer");
    json.putObject("pre_tokenizer")
        .put("type", "ByteLevel")
        .put("add_prefix_space", false)
        .put("use_regex", true);
    var vocabulary = json.putObject("model").put("type", "BPE").putObject("vocab");
    var added = json.putArray("added_tokens");
    var tokens = metadata.texts("tokenizer.ggml.tokens");
    var types = metadata.optionalNumbers("tokenizer.ggml.token_type");
    for (int id = 0; id < tokens.size(); id++) {
      boolean isSpecial = types != null && types[id] == 3;
      if (isSpecial) added.addObject().put("id", id).put("content", tokens.get(id));
      else vocabulary.put(tokens.get(id), id);
    }
    var merges = ((ObjectNode) json.path("model")).putArray("merges");
    for (var merge : metadata.texts("tokenizer.ggml.merges")) {
      var pair = merge.split(" ", -1);
      merges.addArray().add(pair[0]).add(pair[1]);
    }
    Files.writeString(folder.resolve("tokenizer.json"), json.toString());
    var config = JSON.createObjectNode();
    config.put("eos_token", tokens.get(metadata.number("tokenizer.ggml.eos_token_id", 0, 9999)));
    config.put("chat_template", metadata.text("tokenizer.chat_template"));
    Files.writeString(folder.resolve("tokenizer_config.json"), config.toString());
  }

  private Map<String, Written> read(GgufFile file, ModelShape shape) throws IOException {
    var all = new LinkedHashMap<String, Written>();
    int width = shape.width();
    put(all, file, "token_embd.weight", new int[] {width, shape.vocabulary()}, 0);
    put(all, file, "output_norm.weight", new int[] {width}, 0);
    for (int layer = 0; layer < shape.layers(); layer++) {
      for (var part : PARTS) {
        int heads = part.equals("attn_q") ? shape.heads() : shape.kvHeads();
        boolean isTurned = part.equals("attn_q") || part.equals("attn_k");
        var name = "blk." + layer + "." + part + ".weight";
        put(all, file, name, sizes(shape, part), isTurned ? heads : 0);
      }
    }
    return all;
  }

  private static int[] sizes(ModelShape shape, String part) {
    int width = shape.width();
    int keys = shape.kvHeads() * shape.headSize();
    int queries = shape.heads() * shape.headSize();
    return switch (part) {
      case "attn_norm", "ffn_norm" -> new int[] {width};
      case "attn_q" -> new int[] {width, queries};
      case "attn_k", "attn_v" -> new int[] {width, keys};
      case "attn_output" -> new int[] {queries, width};
      case "ffn_down" -> new int[] {shape.feedForward(), width};
      default -> new int[] {width, shape.feedForward()};
    };
  }

  /** Positions turn neighbours there and halves here, so that the rows of a head change places. */
  private void put(
      Map<String, Written> all, GgufFile file, String name, int[] sizes, int turnedHeads)
      throws IOException {
    var tensor = file.tensor(name, sizes);
    int rows = sizes.length == 1 ? 1 : sizes[1];
    var values = new float[rows][sizes[0]];
    for (int row = 0; row < rows; row++) {
      int to = row;
      if (turnedHeads > 0) {
        int size = rows / turnedHeads;
        int within = row % size;
        to = row / size * size + within % 2 * (size / 2) + within / 2;
      }
      if (sizes.length == 1) values[to] = tensor.vector();
      else tensor.row(row, values[to], 0);
    }
    var list = new ArrayList<Long>();
    for (int i = sizes.length - 1; i >= 0; i--) list.add((long) sizes[i]);
    all.put(String.valueOf(ModelFolder.named(name)), new Written(type.name(), list, bytes(values)));
  }

  private byte[] bytes(float[][] values) {
    int each = type == NumberType.F32 ? 4 : 2;
    var bytes =
        ByteBuffer.allocate(each * values.length * values[0].length).order(ByteOrder.LITTLE_ENDIAN);
    for (var row : values) {
      for (float value : row) {
        switch (type) {
          case F32 -> bytes.putFloat(value);
          case F16 -> bytes.putShort(Float.floatToFloat16(value));
          case BF16 -> bytes.putShort(bf16(value));
        }
      }
    }
    return bytes.array();
  }

  private static short bf16(float value) {
    int bits = Float.floatToRawIntBits(value);
    return (short) ((bits + 0x7fff + (bits >>> 16 & 1)) >>> 16);
  }

  private void tensors(Map<String, Written> all, int files) throws IOException {
    var names = List.copyOf(all.keySet());
    var index = JSON.createObjectNode();
    var map = index.putObject("weight_map");
    for (int i = 0; i < files; i++) {
      var name =
          files == 1 ? "model.safetensors" : "model-%d-of-%d.safetensors".formatted(i, files);
      var some = new LinkedHashMap<String, Written>();
      for (int n = i; n < names.size(); n += files) {
        some.put(names.get(n), all.get(names.get(n)));
        map.put(names.get(n), name);
      }
      file(folder.resolve(name), some);
    }
    if (files > 1) {
      Files.writeString(folder.resolve("model.safetensors.index.json"), index.toString());
    }
  }

  private static void file(Path path, Map<String, Written> tensors) throws IOException {
    var head = JSON.createObjectNode();
    head.putObject("__metadata__").put("format", "pt");
    long at = 0;
    for (var each : tensors.entrySet()) {
      var tensor = each.getValue();
      var node = head.putObject(each.getKey()).put("dtype", tensor.type);
      var shape = node.putArray("shape");
      tensor.sizes.forEach(shape::add);
      node.putArray("data_offsets").add(at).add(at + tensor.bytes.length);
      at += tensor.bytes.length;
    }
    var text = head.toString().getBytes(StandardCharsets.UTF_8);
    var length = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(text.length);
    try (OutputStream out = Files.newOutputStream(path)) {
      out.write(length.array());
      out.write(text);
      for (var each : tensors.values()) out.write(each.bytes);
    }
  }
}
