package dev.kvasir.events;

import dev.kvasir.Nullable;
import dev.kvasir.events.EngineEvent.KeyPart;
import java.util.List;

/** Writes batches as engines do, byte for byte. */
public final class EventEncoder {
  private final EventEncoding encoding;
  private final MsgpackWriter out = new MsgpackWriter();

  private EventEncoder(EventEncoding encoding) {
    this.encoding = encoding;
  }

  public static byte[] encode(EngineBatch batch, EventEncoding encoding) {
    var encoder = new EventEncoder(encoding);
    encoder.write(batch);
    return encoder.out.bytes();
  }

  private void write(EngineBatch batch) {
    out.array(3);
    out.number(batch.seconds());
    out.array(batch.events().size());
    for (var event : batch.events()) write(event);
    integer(batch.rank());
  }

  private void write(EngineEvent event) {
    switch (event) {
      case EngineEvent.Stored _ -> write(EventField.STORED, EventField.OF_STORED, event);
      case EngineEvent.Removed _ -> write(EventField.REMOVED, EventField.OF_REMOVED, event);
      case EngineEvent.Cleared _ -> write(EventField.CLEARED, List.of(), event);
    }
  }

  private void write(String type, List<EventField> fields, EngineEvent event) {
    switch (encoding) {
      case ARRAY -> {
        out.array(1 + fields.size());
        out.text(type);
        for (var field : fields) write(field, event);
      }
      case MAP -> {
        var written = fields.stream().filter(field -> isWritten(field, event)).toList();
        out.map(1 + written.size());
        out.text(EventField.TYPE);
        out.text(type);
        for (var field : written) {
          out.text(field.text());
          write(field, event);
        }
      }
    }
  }

  private static boolean isWritten(EventField field, EngineEvent event) {
    if (field.isAlwaysWritten()) return true;
    return switch (event) {
      case EngineEvent.Stored stored ->
          switch (field) {
            case EXTRA_KEYS -> !stored.extraKeys().isEmpty();
            case GROUP -> stored.group().index() != null;
            case KIND -> stored.group().kind() != null;
            case WINDOW -> stored.group().window() != null;
            default -> stored.place().locality() != null;
          };
      case EngineEvent.Removed removed ->
          field == EventField.GROUP ? removed.group() != null : removed.place().locality() != null;
      case EngineEvent.Cleared _ -> false;
    };
  }

  private void write(EventField field, EngineEvent event) {
    switch (event) {
      case EngineEvent.Stored stored -> write(field, stored);
      case EngineEvent.Removed removed -> write(field, removed);
      case EngineEvent.Cleared _ -> throw new IllegalStateException(field + " of " + event);
    }
  }

  private void write(EventField field, EngineEvent.Stored stored) {
    switch (field) {
      case HASHES -> hashes(stored.hashes());
      case PARENT -> hash(stored.parent());
      case TOKENS -> {
        out.array(stored.tokens().length);
        for (int token : stored.tokens()) out.unsigned(token);
      }
      case BLOCK_TOKENS -> out.unsigned(stored.blockTokens());
      case LORA_ID -> {
        var id = stored.adapter().id();
        if (id == null) out.nil();
        else out.unsigned(id);
      }
      case MEDIUM -> text(stored.place().medium());
      case LORA_NAME -> text(stored.adapter().name());
      case EXTRA_KEYS -> extraKeys(stored.extraKeys());
      case GROUP -> integer(stored.group().index());
      case KIND -> text(stored.group().kind());
      case WINDOW -> integer(stored.group().window());
      case LOCALITY -> text(stored.place().locality());
      // Our engines tell salts as extra keys, as vLLM does.
      case CACHE_SALT -> throw new IllegalStateException(field + " of " + stored);
    }
  }

  private void write(EventField field, EngineEvent.Removed removed) {
    switch (field) {
      case HASHES -> hashes(removed.hashes());
      case MEDIUM -> text(removed.place().medium());
      case GROUP -> integer(removed.group());
      case LOCALITY -> text(removed.place().locality());
      default -> throw new IllegalStateException(field + " of " + removed);
    }
  }

  private void hashes(List<EngineHash> hashes) {
    out.array(hashes.size());
    for (var hash : hashes) hash(hash);
  }

  private void hash(@Nullable EngineHash hash) {
    switch (hash) {
      case null -> out.nil();
      case EngineHash.Word(long bits) -> out.unsigned(bits);
      case EngineHash.Digest digest -> out.binary(digest.digest());
    }
  }

  private void extraKeys(List<List<KeyPart>> blocks) {
    if (blocks.isEmpty()) {
      out.nil();
      return;
    }
    out.array(blocks.size());
    for (var parts : blocks) {
      if (parts.isEmpty()) out.nil();
      else parts(parts);
    }
  }

  private void parts(List<KeyPart> parts) {
    out.array(parts.size());
    for (var part : parts) {
      switch (part) {
        case KeyPart.Text(var text) -> out.text(text);
        case KeyPart.Media(var hash, var offset) -> {
          out.array(2);
          out.text(hash);
          out.unsigned(offset);
        }
        case KeyPart.Opaque _ -> out.nil();
      }
    }
  }

  private void text(@Nullable String text) {
    if (text == null) out.nil();
    else out.text(text);
  }

  private void integer(@Nullable Integer value) {
    if (value == null) out.nil();
    else out.unsigned(value);
  }
}
