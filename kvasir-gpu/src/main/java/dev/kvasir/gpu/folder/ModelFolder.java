package dev.kvasir.gpu.folder;

import dev.kvasir.Nullable;
import dev.kvasir.gpu.model.GpuShape;
import dev.kvasir.gpu.model.TensorSource;
import dev.kvasir.kv.name.Sha256;
import dev.kvasir.model.gguf.ModelFileException;
import dev.kvasir.model.gguf.Tensor;
import dev.kvasir.model.gguf.TensorType;
import dev.kvasir.text.UnsupportedText;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * A model in a Hugging Face folder, with its tensors under their GGUF names. They are readable
 * until it is closed.
 */
public final class ModelFolder implements TensorSource {
  private static final long INDEX_BYTES_MAX = 64L << 20;
  private static final int FILES_MAX = 1_024;
  private static final int DIGEST_BYTES = 1 << 20;
  private static final String ONE_FILE = "model.safetensors";
  private static final String INDEX = "model.safetensors.index.json";
  private static final String ANGLES = "rope_freqs.weight";

  private static final Map<String, String> NAMES =
      Map.of(
          "token_embd.weight", "model.embed_tokens.weight",
          "output_norm.weight", "model.norm.weight",
          "output.weight", "lm_head.weight");

  /** Within a layer. */
  private static final Map<String, String> PARTS =
      Map.ofEntries(
          Map.entry("attn_norm", "input_layernorm"),
          Map.entry("ffn_norm", "post_attention_layernorm"),
          Map.entry("attn_q", "self_attn.q_proj"),
          Map.entry("attn_k", "self_attn.k_proj"),
          Map.entry("attn_v", "self_attn.v_proj"),
          Map.entry("attn_q_norm", "self_attn.q_norm"),
          Map.entry("attn_k_norm", "self_attn.k_norm"),
          Map.entry("attn_output", "self_attn.o_proj"),
          Map.entry("ffn_gate", "mlp.gate_proj"),
          Map.entry("ffn_up", "mlp.up_proj"),
          Map.entry("ffn_down", "mlp.down_proj"));

  private final Path folder;
  private final ModelConfig config;
  private final Arena arena = Arena.ofShared();
  private final List<SafetensorsFile> files = new ArrayList<>();
  private final Map<String, SafetensorsFile> holders = new HashMap<>();

  private ModelFolder(Path folder, ModelConfig config) {
    this.folder = folder;
    this.config = config;
  }

  /** Reads the config, and maps the tensors. */
  public static ModelFolder open(Path folder) throws ModelFileException {
    var opened = new ModelFolder(folder, ModelConfig.read(folder));
    try {
      for (var name : opened.fileNames()) opened.map(name);
      return opened;
    } catch (ModelFileException | RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  /** The sizes of the model in the folder; its tensors need not be there. */
  public static GpuShape shape(Path folder) throws ModelFileException {
    return ModelConfig.read(folder).shape();
  }

  @Override
  public GpuShape shape() {
    return config.shape();
  }

  private void map(String name) throws ModelFileException {
    var file = SafetensorsFile.open(folder.resolve(name), arena);
    files.add(file);
    for (var tensor : file.entries().keySet()) {
      if (holders.putIfAbsent(tensor, file) != null) {
        throw SafetensorsFile.wrong(file.path(), "tensor " + tensor + " is in another file too");
      }
    }
  }

  /** One file, or those that the index names. */
  private List<String> fileNames() throws ModelFileException {
    var index = folder.resolve(INDEX);
    if (!Files.isRegularFile(index)) return List.of(ONE_FILE);
    var json = SafetensorsFile.json(index, INDEX_BYTES_MAX);
    var names = new TreeSet<String>();
    for (var each : json.path("weight_map").properties()) names.add(each.getValue().asString(""));
    if (names.isEmpty() || names.size() > FILES_MAX) {
      throw SafetensorsFile.wrong(index, "it names " + names.size() + " files");
    }
    for (var name : names) {
      if (!name.matches("[A-Za-z0-9_.-]+")) {
        throw SafetensorsFile.wrong(index, "it names " + UnsupportedText.shown(name));
      }
    }
    return List.copyOf(names);
  }

  /** The name of a tensor in the folder; null for one that no folder has. */
  static @Nullable String named(String name) {
    var whole = NAMES.get(name);
    if (whole != null) return whole;
    var parts = name.split("\\.", -1);
    if (parts.length != 4 || !parts[0].equals("blk")) return null;
    var part = PARTS.get(parts[2]);
    return part == null ? null : "model.layers." + parts[1] + "." + part + "." + parts[3];
  }

  @Override
  public boolean has(String name) {
    if (name.equals(ANGLES)) return config.isScaled();
    if (name.equals("output.weight") && config.isTied()) return false;
    var here = named(name);
    return here != null && holders.containsKey(here);
  }

  @Override
  public Tensor tensor(String name, int... sizes) throws ModelFileException {
    if (name.equals(ANGLES)) return angles();
    var here = String.valueOf(named(name));
    var file = holders.get(here);
    if (file == null) throw SafetensorsFile.wrong(folder, "it has no tensor " + here);
    var entry = file.entries().get(here);
    if (entry == null) throw new IllegalStateException(here);
    var expected = new ArrayList<Long>();
    for (int size : sizes) expected.add((long) size);
    Collections.reverse(expected);
    if (!entry.sizes().equals(expected)) {
      throw SafetensorsFile.wrong(
          file.path(),
          "tensor " + here + " has the shape " + entry.sizes() + ", expected " + expected);
    }
    try {
      var dimensions = Arrays.stream(sizes).boxed().toList();
      return new Tensor(here, type(file, here, entry.type()), dimensions, entry.bytes());
    } catch (IllegalArgumentException unfit) {
      throw SafetensorsFile.wrong(file.path(), "tensor " + here + ": " + unfit.getMessage());
    }
  }

  private static TensorType type(SafetensorsFile file, String name, String type)
      throws ModelFileException {
    return switch (type) {
      case "F32" -> TensorType.F32;
      case "F16" -> TensorType.F16;
      case "BF16" -> TensorType.BF16;
      default ->
          throw new ModelFileException(
              file.path(),
              "tensor " + name + " is of type " + UnsupportedText.shown(type),
              "use a model in BF16, F16 or F32");
    };
  }

  private Tensor angles() {
    var divisors = config.divisors();
    var bytes = MemorySegment.ofArray(divisors);
    var copy = arena.allocate(bytes.byteSize(), Float.BYTES).copyFrom(bytes);
    return new Tensor(ANGLES, TensorType.F32, List.of(divisors.length), copy);
  }

  @Override
  public String sha256() {
    var digest = Sha256.digest();
    var description = config.shape() + " " + config.isTied() + " " + config.scaling();
    digest.update(description.getBytes(StandardCharsets.UTF_8));
    for (var file : files) {
      var bytes = file.bytes();
      for (long at = 0; at < bytes.byteSize(); at += DIGEST_BYTES) {
        long count = Math.min(DIGEST_BYTES, bytes.byteSize() - at);
        digest.update(bytes.asSlice(at, count).asByteBuffer());
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  @Override
  public void close() {
    if (arena.scope().isAlive()) arena.close();
  }
}
