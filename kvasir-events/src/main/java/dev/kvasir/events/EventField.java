package dev.kvasir.events;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.kvasir.Nullable;
import java.util.ArrayList;
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

  private static final Words NAMES = new Words(names());
  private static final Words TYPES = new Words(List.of(STORED, REMOVED, CLEARED));
  private static final Words MEDIA = new Words(List.of("GPU", "CPU", "DISK"));

  /** Words that come again and again. */
  private static final class Words {
    private final List<String> texts;
    private final byte[][] bytes;

    Words(List<String> texts) {
      this.texts = texts;
      this.bytes = new byte[texts.size()][];
      for (int i = 0; i < bytes.length; i++) bytes[i] = texts.get(i).getBytes(US_ASCII);
    }

    /** The text that comes next, whichever it is. */
    String next(MsgpackReader in) throws MalformedFrame {
      int which = in.word(bytes);
      return which < 0 ? in.text() : texts.get(which);
    }
  }

  private static List<String> names() {
    var names = new ArrayList<String>();
    for (var field : values()) names.add(field.text);
    names.add(TYPE);
    return names;
  }

  private final String text;

  EventField(String text) {
    this.text = text;
  }

  String text() {
    return text;
  }

  /** Returns whether a map has the field even where nobody set it. */
  boolean isAlwaysWritten() {
    return switch (this) {
      case HASHES, PARENT, TOKENS, BLOCK_TOKENS, LORA_ID, MEDIUM, LORA_NAME -> true;
      case EXTRA_KEYS, GROUP, KIND, WINDOW, LOCALITY, CACHE_SALT -> false;
    };
  }

  /** Reads the name of a field or of the type. */
  static String name(MsgpackReader in) throws MalformedFrame {
    return NAMES.next(in);
  }

  /** Reads what kind of event it is. */
  static String type(MsgpackReader in) throws MalformedFrame {
    return TYPES.next(in);
  }

  /** Reads where blocks are. */
  static String medium(MsgpackReader in) throws MalformedFrame {
    return MEDIA.next(in);
  }

  /** The field of that name; null where it is of a newer engine. */
  static @Nullable EventField named(String text) {
    for (var field : ALL) {
      if (field.text.equals(text)) return field;
    }
    return null;
  }
}
