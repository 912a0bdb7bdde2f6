package dev.kvasir.events;

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
     * @param unreadable how many events could not be read
     * @param reason why the first of these could not; empty where there is none
     * @param bytes about how much of the heap the batch takes
     */
    record Decoded(EngineBatch batch, int unknown, int unreadable, String reason, long bytes)
        implements Outcome {}

    record Malformed(String reason) implements Outcome {}

    /** More than any engine sends: nothing was made of it. */
    record TooMuch(String reason) implements Outcome {}
  }

  private final EventLimits limits;

  public EventDecoder(EventLimits limits) {
    this.limits = limits;
  }

  /** Reads one message; whatever its bytes are, it answers. */
  public Outcome decode(byte[] frame) {
    return decode(frame, limits.decodedBytesMax());
  }

  /** Reads one message into so many bytes of the heap, as far as the limits allow them. */
  Outcome decode(byte[] frame, long decodedBytesMax) {
    if (frame.length > limits.frameBytesMax()) {
      return new Outcome.TooMuch(frame.length + " bytes, at most " + limits.frameBytesMax());
    }
    try {
      var size =
          new DecodedSize(limits.hashesMax(), Math.min(decodedBytesMax, limits.decodedBytesMax()));
      return new Reading(new MsgpackReader(frame, limits), limits.eventsMax(), size).batch();
    } catch (MalformedFrame e) {
      var reason = String.valueOf(e.getMessage());
      return switch (e.kind()) {
        case VALUE -> new Outcome.Malformed(reason);
        case EXCESS -> new Outcome.TooMuch(reason);
      };
    }
  }

  /** One message while it is read. */
  private static final class Reading {
    private final MsgpackReader in;
    private final int eventsMax;
    private final DecodedSize size;
    private final List<EngineEvent> events = new ArrayList<>();
    private int unknown;
    private int unreadable;
    private String reason = "";

    Reading(MsgpackReader in, int eventsMax, DecodedSize size) {
      this.in = in;
      this.eventsMax = eventsMax;
      this.size = size;
    }

    Outcome batch() throws MalformedFrame {
      int fields = in.array();
      if (fields < 2) throw new MalformedFrame("a batch of " + fields + " values");
      double seconds = in.number();
      if (!Double.isFinite(seconds)) throw new MalformedFrame("a batch made at " + seconds);
      int count = in.array();
      if (count > eventsMax) {
        throw MalformedFrame.excess(count + " events, at most " + eventsMax);
      }
      for (int i = 0; i < count; i++) add();
      Integer rank = null;
      if (fields > 2 && !in.nil()) rank = in.integer(0, Integer.MAX_VALUE);
      for (int i = 3; i < fields; i++) in.skip();
      if (!in.isAtEnd()) throw new MalformedFrame("bytes behind the batch");
      var batch = new EngineBatch(seconds, events, rank);
      return new Outcome.Decoded(batch, unknown, unreadable, reason, size.bytes());
    }

    /** One that cannot be read costs no other, as long as its end can be found. */
    private void add() throws MalformedFrame {
      int from = in.position();
      var fields = new EventFields(in, size);
      try {
        size.add(1, DecodedSize.EVENT);
        var event = event(fields);
        if (event == null) unknown++;
        else events.add(event);
      } catch (MalformedFrame e) {
        if (e.kind() == MalformedFrame.Kind.EXCESS || !in.skipFrom(from)) throw e;
        if (unreadable++ == 0) reason = String.valueOf(e.getMessage());
        // Any block may have been removed by what was not a block stored.
        if (!fields.type().equals(EventField.STORED)) events.add(new EngineEvent.Cleared());
      }
    }

    /** The event that comes next; null where its kind is not known. */
    private @Nullable EngineEvent event(EventFields fields) throws MalformedFrame {
      if (in.isMap()) named(fields);
      else placed(fields);
      return switch (fields.type()) {
        case EventField.STORED -> fields.stored();
        case EventField.REMOVED -> fields.removed();
        case EventField.CLEARED -> new EngineEvent.Cleared();
        default -> null;
      };
    }

    private void named(EventFields fields) throws MalformedFrame {
      for (int left = in.map(); left > 0; left--) {
        var name = EventField.name(in);
        var field = EventField.named(name);
        if (name.equals(EventField.TYPE)) fields.type(EventField.type(in));
        else if (field == null) in.skip();
        else fields.read(field);
      }
    }

    private void placed(EventFields fields) throws MalformedFrame {
      int count = in.array();
      if (count < 1) throw new MalformedFrame("an event of no values");
      fields.type(EventField.type(in));
      var order =
          switch (fields.type()) {
            case EventField.STORED -> EventField.OF_STORED;
            case EventField.REMOVED -> EventField.OF_REMOVED;
            default -> List.<EventField>of();
          };
      for (int i = 1; i < count; i++) {
        if (i <= order.size()) fields.read(order.get(i - 1));
        else in.skip();
      }
    }
  }
}
