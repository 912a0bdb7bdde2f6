package dev.kvasir.model;

import dev.kvasir.model.gguf.GgufFile;
import dev.kvasir.model.gguf.ModelFileException;
import dev.kvasir.text.UnsupportedText;

/** The supported model families, all of them variants of Llama. */
public enum Architecture {
  /** RoPE rotates neighbouring numbers. */
  LLAMA("llama"),
  /**
   * RoPE rotates the first half of a head against the second. Queries, keys and values have a bias.
   */
  QWEN2("qwen2"),
  /** Like Qwen 2 without the bias, but each head is normalized. */
  QWEN3("qwen3");

  private final String key;

  Architecture(String key) {
    this.key = key;
  }

  /** Its name in the file, with which the keys of its settings begin. */
  public String key() {
    return key;
  }

  static Architecture of(GgufFile file) throws ModelFileException {
    var name = file.metadata().text("general.architecture");
    for (var architecture : values()) {
      if (architecture.key.equals(name)) return architecture;
    }
    throw new ModelFileException(
        file.path(),
        "its architecture " + UnsupportedText.shown(name) + " is not supported",
        "use a model of the architecture llama, qwen2 or qwen3");
  }
}
