package dev.kvasir.model;

import dev.kvasir.model.gguf.GgufWriter;
import dev.kvasir.model.gguf.TensorType;
import dev.kvasir.model.gguf.TestVocabulary;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/** A very small model with random weights, in any architecture and type of tensors. */
public final class TinyModel {
  static final int WIDTH = 64;
  static final int LAYERS = 2;
  static final int HEADS = 4;
  static final int KV_HEADS = 2;
  static final int HEAD_SIZE = 32;
  static final int INNER = 96;
  public static final int CONTEXT = 128;

  final Architecture architecture;
  final Map<String, float[]> tensors = new LinkedHashMap<>();
  private final Map<String, int[]> sizes = new LinkedHashMap<>();

  public TinyModel(Architecture architecture, long seed) {
    this.architecture = architecture;
    var random = new SplittableRandom(seed);
    int queries = HEADS * HEAD_SIZE;
    int keys = KV_HEADS * HEAD_SIZE;
    add(random, "token_embd.weight", WIDTH, TestVocabulary.SIZE);
    add(random, "output.weight", WIDTH, TestVocabulary.SIZE);
    add(random, "output_norm.weight", WIDTH);
    for (int i = 0; i < LAYERS; i++) {
      var block = "blk." + i + ".";
      add(random, block + "attn_norm.weight", WIDTH);
      add(random, block + "attn_q.weight", WIDTH, queries);
      add(random, block + "attn_k.weight", WIDTH, keys);
      add(random, block + "attn_v.weight", WIDTH, keys);
      add(random, block + "attn_output.weight", queries, WIDTH);
      add(random, block + "ffn_norm.weight", WIDTH);
      add(random, block + "ffn_gate.weight", WIDTH, INNER);
      add(random, block + "ffn_up.weight", WIDTH, INNER);
      add(random, block + "ffn_down.weight", INNER, WIDTH);
      if (architecture == Architecture.QWEN2) {
        add(random, block + "attn_q.bias", queries);
        add(random, block + "attn_k.bias", keys);
        add(random, block + "attn_v.bias", keys);
      }
      if (architecture == Architecture.QWEN3) {
        add(random, block + "attn_q_norm.weight", HEAD_SIZE);
        add(random, block + "attn_k_norm.weight", HEAD_SIZE);
      }
    }
  }

  /** Without an output head of its own. */
  TinyModel tied() {
    tensors.remove("output.weight");
    return this;
  }

  private void add(SplittableRandom random, String name, int... size) {
    int count = 1;
    for (int one : size) count *= one;
    var values = new float[count];
    boolean norm = name.contains("norm");
    double spread = 2 / Math.sqrt(size[0]);
    for (int i = 0; i < count; i++) {
      values[i] = (float) (norm ? 0.5 + random.nextDouble() : random.nextDouble(-1, 1) * spread);
    }
    tensors.put(name, values);
    sizes.put(name, size);
  }

  /** The file, with its matrices in the type; vectors are F32 always. */
  public GgufWriter writer(TensorType type) {
    var key = architecture.key();
    var writer =
        TestVocabulary.into(new GgufWriter())
            .text("general.architecture", key)
            .number(key + ".block_count", LAYERS)
            .number(key + ".context_length", CONTEXT)
            .number(key + ".embedding_length", WIDTH)
            .number(key + ".feed_forward_length", INNER)
            .number(key + ".attention.head_count", HEADS)
            .number(key + ".attention.head_count_kv", KV_HEADS)
            .number(key + ".attention.key_length", HEAD_SIZE)
            .decimal(key + ".attention.layer_norm_rms_epsilon", 1e-5f)
            .decimal(key + ".rope.freq_base", 10_000);
    tensors.forEach(
        (name, values) -> {
          var size = Objects.requireNonNull(sizes.get(name), name);
          writer.tensor(name, size.length == 1 ? TensorType.F32 : type, values, size);
        });
    return writer;
  }
}
