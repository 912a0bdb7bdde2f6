package dev.kvasir.sim.latency;

import dev.kvasir.sim.latency.ModelSizes.Attention;
import dev.kvasir.sim.latency.ModelSizes.Experts;
import dev.kvasir.sim.latency.ModelSizes.FeedForward;
import dev.kvasir.sim.latency.ModelSizes.Precision;
import dev.kvasir.sim.latency.ModelSizes.Vocabulary;
import java.io.Reader;
import java.util.Locale;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A model's config.json as model hubs hold it, read for the sizes in it. */
public final class ModelConfigFile {
  private static final JsonMapper JSON = new JsonMapper();
  private static final int BITS_PER_BYTE = 8;

  private final String source;
  private final JsonNode fields;

  private ModelConfigFile(String source, JsonNode fields) {
    this.source = source;
    this.fields = fields;
  }

  /** Reads the shape of the model out of its configuration; the source is named in errors. */
  public static ModelSizes read(Reader reader, String source) {
    JsonNode root;
    try {
      root = JSON.readTree(reader);
    } catch (JacksonException e) {
      throw new LatencyError(
          source + ": not JSON (" + e.getOriginalMessage() + "); give a model's config.json", e);
    }
    if (!(root instanceof ObjectNode fields)) {
      throw new LatencyError(source + ": no object; give a model's config.json");
    }
    // A model that also sees or hears keeps the sizes of its text part one level down.
    if (fields.get("text_config") instanceof ObjectNode text) fields.setAll(text);
    try {
      return new ModelConfigFile(source, fields).shape();
    } catch (IllegalArgumentException e) {
      throw new LatencyError(source + ": " + e.getMessage() + "; correct the sizes", e);
    }
  }

  private ModelSizes shape() {
    int heads = needed("num_attention_heads");
    int kvHeads = first("num_key_value_heads", "num_kv_heads", "multi_query_group_num");
    int latent = first("kv_lora_rank") > 0 ? first("kv_lora_rank") + first("qk_rope_head_dim") : 0;
    int feedForward = first("intermediate_size", "ffn_hidden_size");
    int matrices = fields.path("tie_word_embeddings").asBoolean(false) ? 1 : 2;
    return new ModelSizes(
        needed("num_hidden_layers"),
        needed("hidden_size"),
        new Attention(heads, kvHeads > 0 ? kvHeads : heads, first("head_dim"), latent),
        new FeedForward(feedForward, first("intermediate_size_mlp"), experts(feedForward)),
        new Vocabulary(first("vocab_size"), matrices, first("max_position_embeddings")),
        precision());
  }

  private Experts experts(int feedForward) {
    int count = 0;
    for (var field :
        new String[] {
          "num_experts",
          "moe_num_experts",
          "n_routed_experts",
          "num_local_experts",
          "num_routed_experts"
        }) {
      // One expert is no choice: such a model is dense.
      if (count == 0 && first(field) > 1) count = first(field);
    }
    if (count == 0) return Experts.NONE;
    int size = first("moe_intermediate_size");
    int shared = first("shared_expert_intermediate_size");
    if (shared == 0) {
      shared = first("n_shared_experts", "num_shared_experts") * (size > 0 ? size : feedForward);
    }
    int perToken = first("num_experts_per_tok", "num_experts_per_token");
    if (perToken == 0) {
      throw new LatencyError(
          source + ": " + count + " experts, but no num_experts_per_tok; add it");
    }
    return new Experts(
        count,
        perToken,
        size,
        shared,
        first("interleave_moe_layer_step"),
        first("first_k_dense_replace"));
  }

  private Precision precision() {
    var type = fields.path("torch_dtype").asString(fields.path("dtype").asString(""));
    double valueBytes =
        switch (type) {
          case "float32" -> 4;
          case "float16", "bfloat16" -> 2;
          case "int8", "uint8", "fp8", "int4", "nf4" -> 1;
          default ->
              throw new LatencyError(
                  source + ": torch_dtype is \"" + type + "\"; say bfloat16, float16 or float32");
        };
    double weightBytes = quantizedBytes(fields.path("quantization_config"));
    return new Precision(valueBytes, weightBytes > 0 ? weightBytes : valueBytes);
  }

  /** The bytes of a quantized weight; 0 where the configuration does not tell. */
  private static double quantizedBytes(JsonNode quantization) {
    double bits = quantization.path("bits").asInt(0);
    if (bits > 0) return bits / BITS_PER_BYTE;
    var method = quantization.path("quant_method").asString("").toLowerCase(Locale.ROOT);
    if (method.equals("fp8")) return 1;
    if (!method.equals("compressed-tensors")) return 0;
    var groups = new TreeMap<String, JsonNode>();
    quantization.path("config_groups").forEachEntry(groups::put);
    for (var group : groups.values()) {
      double groupBits = group.path("weights").path("num_bits").asDouble(0);
      if (groupBits > 0) return groupBits / BITS_PER_BYTE;
    }
    return 0;
  }

  private int needed(String field) {
    int value = first(field);
    if (value == 0) throw new LatencyError(source + ": no " + field + "; add it");
    return value;
  }

  /** The first of these fields that holds a number other than 0; 0 where none does. */
  private int first(String... names) {
    for (var name : names) {
      int value = fields.path(name).asInt(0);
      if (value < 0) {
        throw new LatencyError(source + ": " + name + " is " + value);
      }
      if (value > 0) return value;
    }
    return 0;
  }
}
