package dev.kvasir.events;

import dev.kvasir.Nullable;
import dev.kvasir.events.EngineEvent.KeyPart;
import java.util.ArrayList;
import java.util.List;

/** The values of one event while it is being read, in whatever order they come. */
final class EventFields {
  private final MsgpackReader in;
  private final DecodedSize size;
  private String type = "";
  private @Nullable List<EngineHash> hashes;
  private @Nullable EngineHash parent;
  private int[] tokens = {};
  private int blockTokens;
  private @Nullable Long loraId;
  private @Nullable String loraName;
  private @Nullable String medium;
  private @Nullable String locality;
  private List<List<KeyPart>> extraKeys = List.of();
  private @Nullable Integer group;
  private @Nullable String kind;
  private @Nullable Integer window;
  private String salt = "";

  EventFields(MsgpackReader in, DecodedSize size) {
    this.in = in;
    this.size = size;
  }

  /** The kind of the event; empty where that has not come yet. */
  String type() {
    return type;
  }

  void type(String name) {
    type = name;
  }

  /** Reads the value that comes next; nil is as if it had not come. */
  void read(EventField field) throws MalformedFrame {
    if (in.nil()) return;
    switch (field) {
      case HASHES -> hashes = hashes();
      case PARENT -> parent = hash();
      case TOKENS -> tokens = tokens();
      case BLOCK_TOKENS -> blockTokens = in.integer(0, Integer.MAX_VALUE);
      case LORA_ID -> loraId = in.integer();
      case LORA_NAME -> loraName = text();
      case MEDIUM -> medium = EventField.medium(in);
      case LOCALITY -> locality = text();
      case EXTRA_KEYS -> extraKeys = extraKeys();
      case GROUP -> group = in.integer(0, Integer.MAX_VALUE);
      case KIND -> kind = text();
      case WINDOW -> window = in.integer(0, Integer.MAX_VALUE);
      case CACHE_SALT -> salt = text();
    }
  }

  EngineEvent stored() throws MalformedFrame {
    return new EngineEvent.Stored(
        present(),
        parent,
        tokens,
        blockTokens,
        new EngineEvent.Adapter(loraId, loraName),
        place(),
        salted(),
        new EngineEvent.Group(group, kind, window));
  }

  /** A salt counts as an extra key of the block that begins a sequence, as vLLM tells it. */
  private List<List<KeyPart>> salted() {
    if (salt.isEmpty() || parent != null) return extraKeys;
    var part = new KeyPart.Text(salt);
    var blocks = new ArrayList<>(extraKeys);
    if (blocks.isEmpty()) blocks.add(List.of());
    var first = new ArrayList<>(blocks.getFirst());
    if (!first.contains(part)) first.add(part);
    blocks.set(0, List.copyOf(first));
    return blocks;
  }

  EngineEvent removed() throws MalformedFrame {
    return new EngineEvent.Removed(present(), place(), group);
  }

  private EngineEvent.Place place() {
    return new EngineEvent.Place(medium, locality);
  }

  private List<EngineHash> present() throws MalformedFrame {
    if (hashes == null) throw new MalformedFrame("an event without " + EventField.HASHES.text());
    return hashes;
  }

  private List<EngineHash> hashes() throws MalformedFrame {
    int count = in.array();
    size.hashes(count);
    var words = new long[count];
    for (int i = 0; i < count; i++) {
      if (in.isBinary()) return digests(words, i);
      words[i] = in.integer();
    }
    return EngineHashes.of(words);
  }

  /** Not all of them are words. */
  private List<EngineHash> digests(long[] words, int from) throws MalformedFrame {
    var read = new ArrayList<EngineHash>(words.length);
    for (int i = 0; i < words.length; i++) {
      size.digest();
      read.add(i < from ? new EngineHash.Word(words[i]) : hash());
    }
    return read;
  }

  private EngineHash hash() throws MalformedFrame {
    if (!in.isBinary()) return new EngineHash.Word(in.integer());
    var digest = in.binary(EngineHash.Digest.BYTES_MAX);
    if (digest.length == 0) throw new MalformedFrame("an empty hash");
    return EngineHash.Digest.of(digest);
  }

  private String text() throws MalformedFrame {
    var text = in.text();
    size.add(text.length(), Byte.BYTES);
    return text;
  }

  private int[] tokens() throws MalformedFrame {
    int count = in.array();
    size.add(count, DecodedSize.TOKEN);
    var read = new int[count];
    if (count > 0 && in.isArray()) pairs(read);
    else for (int i = 0; i < count; i++) read[i] = token();
    return read;
  }

  /**
   * Reads the tokens of an engine that guesses ahead: SGLang names each position by its token and
   * the one after it, of which the next pair begins with the same.
   */
  private void pairs(int[] read) throws MalformedFrame {
    for (int i = 0; i < read.length; i++) {
      int values = in.array();
      if (values != 2) throw new MalformedFrame(values + " tokens at one position");
      read[i] = token();
      token();
    }
  }

  private int token() throws MalformedFrame {
    return in.integer(0, Integer.MAX_VALUE);
  }

  private List<List<KeyPart>> extraKeys() throws MalformedFrame {
    int count = in.array();
    size.add(count, DecodedSize.SLOT);
    var blocks = new ArrayList<List<KeyPart>>(count);
    for (int i = 0; i < count; i++) blocks.add(in.nil() ? List.of() : parts());
    return blocks;
  }

  private List<KeyPart> parts() throws MalformedFrame {
    int count = in.array();
    if (count == 0) return List.of();
    size.add(1, DecodedSize.KEYS);
    size.add(count, DecodedSize.KEY);
    var parts = new ArrayList<KeyPart>(count);
    for (int i = 0; i < count; i++) parts.add(part());
    return List.copyOf(parts);
  }

  private KeyPart part() throws MalformedFrame {
    if (in.isText()) return new KeyPart.Text(text());
    if (!in.isArray()) {
      in.skip();
      return new KeyPart.Opaque();
    }
    int count = in.array();
    if (count == 2 && in.isText()) {
      var hash = text();
      if (in.isInteger()) return new KeyPart.Media(hash, in.integer());
      in.skip();
      return new KeyPart.Opaque();
    }
    for (int i = 0; i < count; i++) in.skip();
    return new KeyPart.Opaque();
  }
}
