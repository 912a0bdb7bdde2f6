package dev.kvasir.live.events;

import dev.kvasir.Nullable;
import java.util.List;

/** A value of an event: its name in a map, its place in an array by the order of the lists. */
enum EventField {
  HASHES("block_hashes"),
  PARENT("parent_block_hash"),
  TOKENS("token_ids"),
  BLOCK_TOKENS("block_size"),
  LORA_ID("lora_id"),
  MEDIUM("medium"),
  LORA_NAME("lora_name"),
  EXTRA_KEYS("extra_keys"),
  GROUP("group_idx"),
  KIND("kv_cache_spec_kind"),
  WINDOW("kv_cache_spec_sliding_window"),
  LOCALITY("locality"),
  /** Of SGLang, which writes maps only where it has it. */
  CACHE_SALT("cache_salt");

  static final String TYPE = "type";
  static final String STORED = "BlockStored";
  static final String REMOVED = "BlockRemoved";
  static final String CLEARED = "AllBlocksCleared";

  static final List<EventField> OF_STORED =
      List.of(
          HASHES,
          PARENT,
          TOKENS,
          BLOCK_TOKENS,
          LORA_ID,
          MEDIUM,
          LORA_NAME,
          EXTRA_KEYS,
          GROUP,
          KIND,
          WINDOW,
          LOCALITY);
  static final List<EventField> OF_REMOVED = List.of(HASHES, MEDIUM, GROUP, LOCALITY);

  /** A copy is made of them each time they are asked for. */
  private static final EventField[] ALL = values();

  private final String text;

  EventField(String text) {
    this.text = text;
  }

  String text() {
    return text;
  }

  /** Whether a map has it even where nobody set it. */
  boolean isAlwaysWritten() {
    return switch (this) {
      case HASHES, PARENT, TOKENS, BLOCK_TOKENS, LORA_ID, MEDIUM, LORA_NAME -> true;
      case EXTRA_KEYS, GROUP, KIND, WINDOW, LOCALITY, CACHE_SALT -> false;
    };
  }

  /** The field of that name; null where it is of a newer engine. */
  static @Nullable EventField named(String text) {
    for (var field : ALL) {
      if (field.text.equals(text)) return field;
    }
    return null;
  }
}
