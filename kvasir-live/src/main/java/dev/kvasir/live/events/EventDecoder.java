package dev.kvasir.live.events;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.List;

/** Reads batches as engines write them, of any version, within limits. */
public final class EventDecoder {
  /** A batch, or why there is none. */
  public sealed interface Outcome {
    /**
     * The batch.
     *
     * @param unknown how many events were passed over, being of kinds that are not known here
     */
    record Decoded(EngineBatch batch, int unknown) implements Outcome {}

    record Malformed(String reason) implements Outcome {}
  }

  private final EventLimits limits;

  public EventDecoder(EventLimits limits) {
    this.limits = limits;
  }

  /** Reads one message; whatever its bytes are, it answers. */
  public Outcome decode(byte[] frame) {
    if (frame.length > limits.frameBytesMax()) {
      return new Outcome.Malformed(frame.length + " bytes, at most " + limits.frameBytesMax());
    }
    try {
      return batch(new MsgpackReader(frame, limits));
    } catch (MalformedFrame e) {
      return new Outcome.Malformed(String.valueOf(e.getMessage()));
    }
  }

  private Outcome batch(MsgpackReader in) throws MalformedFrame {
    int fields = in.array();
    if (fields < 2) throw new MalformedFrame("a batch of " + fields + " values");
    double seconds = in.number();
    if (!Double.isFinite(seconds)) throw new MalformedFrame("a batch made at " + seconds);
    int count = in.array();
    if (count > limits.eventsMax()) throw new MalformedFrame(count + " events in a batch");
    var events = new ArrayList<EngineEvent>(count);
    for (int i = 0; i < count; i++) {
      var event = event(in);
      if (event != null) events.add(event);
    }
    Integer rank = null;
    if (fields > 2 && !in.nil()) rank = in.integer(0, Integer.MAX_VALUE);
    for (int i = 3; i < fields; i++) in.skip();
    if (!in.isAtEnd()) throw new MalformedFrame("bytes behind the batch");
    return new Outcome.Decoded(new EngineBatch(seconds, events, rank), count - events.size());
  }

  /** The event that comes next; null where its kind is not known. */
  private static @Nullable EngineEvent event(MsgpackReader in) throws MalformedFrame {
    var fields = new EventFields(in);
    var type = in.isMap() ? named(in, fields) : placed(in, fields);
    return switch (type) {
      case EventField.STORED -> fields.stored();
      case EventField.REMOVED -> fields.removed();
      case EventField.CLEARED -> new EngineEvent.Cleared();
      default -> null;
    };
  }

  private static String named(MsgpackReader in, EventFields fields) throws MalformedFrame {
    var type = "";
    for (int left = in.map(); left > 0; left--) {
      var name = EventField.name(in);
      var field = EventField.named(name);
      if (name.equals(EventField.TYPE)) type = EventField.type(in);
      else if (field == null) in.skip();
      else fields.read(field);
    }
    return type;
  }

  private static String placed(MsgpackReader in, EventFields fields) throws MalformedFrame {
    int count = in.array();
    if (count < 1) throw new MalformedFrame("an event of no values");
    var type = EventField.type(in);
    var order =
        switch (type) {
          case EventField.STORED -> EventField.OF_STORED;
          case EventField.REMOVED -> EventField.OF_REMOVED;
          default -> List.<EventField>of();
        };
    for (int i = 1; i < count; i++) {
      if (i <= order.size()) fields.read(order.get(i - 1));
      else in.skip();
    }
    return type;
  }
}
