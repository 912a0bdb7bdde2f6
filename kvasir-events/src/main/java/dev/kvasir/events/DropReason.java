package dev.kvasir.events;

/** Reason for which a block that an engine told of is left out of the index. */
public enum DropReason {
  TOKEN_COUNT("token_count", "it has fewer or more tokens than its blocks"),
  PARENT("unknown_parent", "the block before it was not reported"),
  COPY("unknown_block", "a block is named by its hash alone, and was not reported before"),
  EXTRA_KEYS("extra_keys", "a block has an image or something else that is not text in it"),
  ADAPTER("adapter_without_name", "a LoRA adapter has a number and no name"),
  LAYERS("layer_group", "blocks of a kind of layers cannot be followed"),
  CONFLICT("conflict", "a block is reported again, with other tokens before it"),
  MEDIUM("unknown_medium", "the place of a block is not known here"),
  LENGTH("too_long", "a prompt has more blocks than are followed"),
  CAPACITY("capacity", "it has more blocks than are followed");

  private final String label;
  private final String text;

  DropReason(String label, String text) {
    this.label = label;
    this.text = text;
  }

  /** As metrics have it. */
  public String label() {
    return label;
  }

  /** As people read it. */
  public String text() {
    return text;
  }
}
