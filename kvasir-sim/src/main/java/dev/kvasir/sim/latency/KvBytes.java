package dev.kvasir.sim.latency;

import java.util.LinkedHashMap;
import java.util.SequencedMap;

/** Size of the K and V of one token, in values of 16 bits, for models that many run. */
public final class KvBytes {
  private static final int VALUE_BYTES = 2;

  private static final SequencedMap<String, Long> MODELS = models();

  private KvBytes() {}

  private static SequencedMap<String, Long> models() {
    var models = new LinkedHashMap<String, Long>();
    models.put("llama-3.1-8b", heads(32, 8, 128));
    models.put("llama-3.1-70b", heads(80, 8, 128));
    models.put("llama-3.1-405b", heads(126, 8, 128));
    models.put("mistral-7b", heads(32, 8, 128));
    models.put("mixtral-8x7b", heads(32, 8, 128));
    models.put("qwen2.5-7b", heads(28, 4, 128));
    models.put("qwen2.5-72b", heads(80, 8, 128));
    models.put("qwen3-14b", heads(40, 8, 128));
    models.put("qwen3-32b", heads(64, 8, 128));
    models.put("qwen3-30b-a3b", heads(48, 4, 128));
    models.put("gpt-oss-20b", heads(24, 8, 64));
    models.put("gpt-oss-120b", heads(36, 8, 64));
    // One compressed vector of 512 and a rotated key of 64 for all heads of a layer.
    models.put("deepseek-v3", 61L * (512 + 64) * VALUE_BYTES);
    return models;
  }

  private static long heads(long layers, int kvHeads, int headSize) {
    return layers * 2 * kvHeads * headSize * VALUE_BYTES;
  }

  /** A number of bytes, or the name of a model. */
  public static long parse(String text) {
    var model = MODELS.get(text);
    if (model != null) return model;
    try {
      long bytes = Long.parseLong(text);
      if (bytes > 0) return bytes;
    } catch (NumberFormatException _) {
      // Neither a name nor a number: said below.
    }
    throw new IllegalArgumentException(
        "'%s' is not a number of bytes; give one above 0, or one of %s"
            .formatted(text, String.join(", ", MODELS.sequencedKeySet())));
  }
}
