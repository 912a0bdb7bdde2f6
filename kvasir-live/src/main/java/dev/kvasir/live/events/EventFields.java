package dev.kvasir.live.events;

import dev.kvasir.Nullable;
import dev.kvasir.live.events.EngineEvent.KeyPart;
import java.util.ArrayList;
import java.util.List;

/** The values of one event while it is being read, in whatever order they come. */
final class EventFields {
  private final MsgpackReader in;
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

  EventFields(MsgpackReader in) {
    this.in = in;
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
      case LORA_NAME -> loraName = in.text();
      case MEDIUM -> medium = EventField.medium(in);
      case LOCALITY -> locality = in.text();
      case EXTRA_KEYS -> extraKeys = extraKeys();
      case GROUP -> group = in.integer(0, Integer.MAX_VALUE);
      case KIND -> kind = in.text();
      case WINDOW -> window = in.integer(0, Integer.MAX_VALUE);
      case CACHE_SALT -> salt = in.text();
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
    var read = new ArrayList<EngineHash>(count);
    for (int i = 0; i < count; i++) read.add(hash());
    return read;
  }

  private EngineHash hash() throws MalformedFrame {
    if (!in.isBinary()) return new EngineHash.Word(in.integer());
    var digest = in.binary(EngineHash.Digest.BYTES_MAX);
    if (digest.length == 0) throw new MalformedFrame("an empty hash");
    return EngineHash.Digest.of(digest);
  }

  private int[] tokens() throws MalformedFrame {
    var read = new int[in.array()];
    for (int i = 0; i < read.length; i++) read[i] = in.integer(0, Integer.MAX_VALUE);
    return read;
  }

  private List<List<KeyPart>> extraKeys() throws MalformedFrame {
    int count = in.array();
    var blocks = new ArrayList<List<KeyPart>>(count);
    for (int i = 0; i < count; i++) {
      var parts = new ArrayList<KeyPart>();
      if (!in.nil()) {
        for (int left = in.array(); left > 0; left--) parts.add(part());
      }
      blocks.add(List.copyOf(parts));
    }
    return blocks;
  }

  private KeyPart part() throws MalformedFrame {
    if (in.isText()) return new KeyPart.Text(in.text());
    if (!in.isArray()) {
      in.skip();
      return new KeyPart.Opaque();
    }
    int count = in.array();
    if (count == 2 && in.isText()) {
      var hash = in.text();
      if (in.isInteger()) return new KeyPart.Media(hash, in.integer());
      in.skip();
      return new KeyPart.Opaque();
    }
    for (int i = 0; i < count; i++) in.skip();
    return new KeyPart.Opaque();
  }
}
