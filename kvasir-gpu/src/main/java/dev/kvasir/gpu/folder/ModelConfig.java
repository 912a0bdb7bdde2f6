package dev.kvasir.gpu.folder;

import dev.kvasir.gpu.model.GpuShape;
import dev.kvasir.gpu.model.GpuShape.Extra;
import dev.kvasir.gpu.model.GpuShape.RopePairs;
import dev.kvasir.model.gguf.ModelFileException;
import dev.kvasir.text.UnsupportedText;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The content of a model's config.json.
 *
 * @param isTied whether the embedding is also the output matrix
 * @param scaling the RoPE scaling; a missing node for none
 */
record ModelConfig(GpuShape shape, boolean isTied, JsonNode scaling) {
  private static final long FILE_BYTES_MAX = 1L << 20;

  /** The angles of all positions are kept; longer contexts are cut to so many. */
  private static final int CONTEXT_MAX = 131_072;

  static ModelConfig read(Path folder) throws ModelFileException {
    var file = folder.resolve("config.json");
    var json = SafetensorsFile.json(file, FILE_BYTES_MAX);
    return new ModelConfig(
        shape(file, json), json.path("tie_word_embeddings").asBoolean(false), scaling(file, json));
  }

  private static GpuShape shape(Path file, JsonNode json) throws ModelFileException {
    refuseOthers(file, json);
    int width = number(file, json, "hidden_size");
    int heads = number(file, json, "num_attention_heads");
    int kvHeads = json.path("num_key_value_heads").asInt(heads);
    int headSize = json.path("head_dim").asInt(heads < 1 ? 0 : width / heads);
    int context = number(file, json, "max_position_embeddings");
    double base = json.path("rope_parameters").path("rope_theta").asDouble(10_000);
    try {
      return new GpuShape(
          number(file, json, "num_hidden_layers"),
          width,
          heads,
          Math.max(1, kvHeads),
          headSize,
          number(file, json, "intermediate_size"),
          number(file, json, "vocab_size"),
          Math.min(context, CONTEXT_MAX),
          (float) json.path("rms_norm_eps").asDouble(1e-6),
          (float) json.path("rope_theta").asDouble(base),
          RopePairs.HALVES,
          extra(file, json));
    } catch (IllegalArgumentException unfit) {
      throw SafetensorsFile.wrong(file, String.valueOf(unfit.getMessage()));
    }
  }

  private static int number(Path file, JsonNode json, String name) throws ModelFileException {
    int value = json.path(name).asInt(0);
    if (value > 0) return value;
    throw SafetensorsFile.wrong(file, name + " is " + json.path(name) + ", expected 1 or more");
  }

  private static Extra extra(Path file, JsonNode json) throws ModelFileException {
    var type = json.path("model_type").asString("");
    return switch (type) {
      case "llama", "mistral" ->
          json.path("attention_bias").asBoolean(false) ? biased(file) : Extra.NONE;
      case "qwen2" -> Extra.BIAS;
      case "qwen3" -> Extra.HEAD_NORM;
      default ->
          throw new ModelFileException(
              file,
              "its architecture " + UnsupportedText.shown(type) + " is not supported",
              "use a model of the architecture llama, mistral, qwen2 or qwen3");
    };
  }

  /** Llama's bias is on the output of the attention too. */
  private static Extra biased(Path file) throws ModelFileException {
    throw SafetensorsFile.wrong(file, "attention_bias is not supported");
  }

  private static void refuseOthers(Path file, JsonNode json) throws ModelFileException {
    for (var name : List.of("quantization_config", "sliding_window", "mlp_bias")) {
      var value = json.path(name);
      boolean isUnused =
          name.equals("sliding_window") && !json.path("use_sliding_window").asBoolean(true);
      boolean isSet =
          !value.isMissingNode() && !value.isNull() && !(value.isBoolean() && !value.asBoolean());
      if (isSet && !isUnused) throw SafetensorsFile.wrong(file, name + " is not supported");
    }
    var activation = json.path("hidden_act").asString("silu");
    if (!activation.equals("silu")) {
      throw SafetensorsFile.wrong(
          file, "the activation " + UnsupportedText.shown(activation) + " is not supported");
    }
  }

  private static JsonNode scaling(Path file, JsonNode json) throws ModelFileException {
    var scaling = json.path("rope_scaling");
    if (!scaling.isObject()) scaling = json.path("rope_parameters");
    var type = scaling.path("rope_type").asString(scaling.path("type").asString("default"));
    if (type.equals("default")) return JsonMapper.shared().missingNode();
    if (type.equals("llama3")) return scaling;
    throw SafetensorsFile.wrong(
        file, "the position scaling " + UnsupportedText.shown(type) + " is not supported");
  }

  /** Returns whether positions are stretched. */
  boolean isScaled() {
    return scaling.isObject();
  }

  /**
   * The divisor of each frequency, as in Llama 3: low frequencies are divided by the factor, high
   * ones are not.
   */
  float[] divisors() {
    double factor = scaling.path("factor").asDouble(8);
    double low = scaling.path("low_freq_factor").asDouble(1);
    double high = scaling.path("high_freq_factor").asDouble(4);
    double original = scaling.path("original_max_position_embeddings").asDouble(8_192);
    var divisors = new float[shape.headSize() / 2];
    for (int i = 0; i < divisors.length; i++) {
      double frequency = StrictMath.pow(shape.ropeBase(), -2.0 * i / shape.headSize());
      double turns = original * frequency / (2 * Math.PI);
      double smooth = Math.clamp((turns - low) / (high - low), 0, 1);
      divisors[i] = (float) (1 / ((1 - smooth) / factor + smooth));
    }
    return divisors;
  }
}
