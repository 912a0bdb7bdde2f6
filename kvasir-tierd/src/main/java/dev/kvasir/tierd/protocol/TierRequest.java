package dev.kvasir.tierd.protocol;

import static dev.kvasir.tierd.protocol.ProtocolError.Kind.BAD_FRAME;
import static dev.kvasir.tierd.protocol.ProtocolError.Kind.WRONG_VERSION;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kvasir.Nullable;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Request of a client; read from a frame whose length has been checked. */
public sealed interface TierRequest {
  /**
   * The first request of a connection.
   *
   * @param path the client's buffer; empty for none
   * @param client who it is, for logs
   */
  record Hello(int version, int rowBytes, int rows, String path, String client, String namespace)
      implements TierRequest {}

  /** Look-up of which of the blocks are there. */
  record Lookup(long id, List<BlockHash> names) implements TierRequest {}

  /**
   * Keep what is in these rows.
   *
   * @param tenant whose blocks they are, as hexadecimal digits; empty for nobody's
   */
  @SuppressWarnings("ArrayRecordComponent") // Made once for each frame, and never changed.
  record Store(long id, String tenant, List<TokenBlock> blocks, int[] rows)
      implements TierRequest {}

  /** Put the blocks into these rows. */
  @SuppressWarnings("ArrayRecordComponent") // Made once for each frame, and never changed.
  record Load(long id, List<BlockHash> names, int[] rows) implements TierRequest {}

  /** The load or store is not wanted any more. */
  record Cancel(long id) implements TierRequest {}

  record Stats(long id) implements TierRequest {}

  /** The engine computed that many tokens in that time. */
  record Measured(long tokens, long nanos) implements TierRequest {}

  /**
   * A request of the engine has ended.
   *
   * @param names its chunks, from the first on
   * @param outputTokens how many it generated; -1 where nobody counted them
   */
  record Ended(List<BlockHash> names, int outputTokens, ReturnHint hint) implements TierRequest {}

  /** Give up all chunks of the tenant. */
  record Forget(long id, String tenant) implements TierRequest {}

  /** Reads a hello, which comes before the namespace is known. */
  static Hello hello(ByteBuffer frame) throws ProtocolError {
    try {
      if (frame.get() != TierProtocol.HELLO) {
        throw new ProtocolError(BAD_FRAME, "the first frame is not a hello");
      }
      if (frame.getInt() != TierProtocol.MAGIC) {
        throw new ProtocolError(BAD_FRAME, "the hello does not begin with KVTP");
      }
      int version = Short.toUnsignedInt(frame.getShort());
      if (version != TierProtocol.VERSION) {
        throw new ProtocolError(
            WRONG_VERSION,
            "protocol version %s, this daemon speaks %s: update the older of daemon and package"
                .formatted(version, TierProtocol.VERSION));
      }
      int rowBytes = frame.getInt();
      int rows = frame.getInt();
      var hello = new Hello(version, rowBytes, rows, text(frame), text(frame), text(frame));
      return ended(frame, hello);
    } catch (BufferUnderflowException e) {
      throw new ProtocolError(BAD_FRAME, "the hello is shorter than it says");
    }
  }

  /** Reads any later request. */
  static TierRequest read(ByteBuffer frame, Namespace namespace) throws ProtocolError {
    byte type = frame.get();
    try {
      var request =
          switch (type) {
            case TierProtocol.LOOKUP -> new Lookup(frame.getLong(), names(frame, namespace));
            case TierProtocol.STORE -> store(frame, namespace);
            case TierProtocol.LOAD -> load(frame, namespace);
            case TierProtocol.CANCEL -> new Cancel(frame.getLong());
            case TierProtocol.STATS -> new Stats(frame.getLong());
            case TierProtocol.MEASURED -> new Measured(frame.getLong(), frame.getLong());
            case TierProtocol.ENDED -> endedRequest(frame, namespace);
            case TierProtocol.FORGET -> new Forget(frame.getLong(), tenant(frame));
            default -> throw new ProtocolError(BAD_FRAME, "frame of type " + (type & 0xff));
          };
      return ended(frame, request);
    } catch (BufferUnderflowException e) {
      throw new ProtocolError(BAD_FRAME, "frame of type " + type + " is shorter than it says");
    }
  }

  private static <T> T ended(ByteBuffer frame, T request) throws ProtocolError {
    if (!frame.hasRemaining()) return request;
    throw new ProtocolError(BAD_FRAME, frame.remaining() + " bytes behind the end of a request");
  }

  private static String text(ByteBuffer frame) {
    var bytes = new byte[Short.toUnsignedInt(frame.getShort())];
    frame.get(bytes);
    return new String(bytes, UTF_8);
  }

  private static int count(ByteBuffer frame) throws ProtocolError {
    int count = frame.getInt();
    if (count >= 0 && count <= TierProtocol.KEYS_MAX) return count;
    throw new ProtocolError(
        BAD_FRAME, Integer.toUnsignedString(count) + " keys, expected up to 16384");
  }

  private static List<BlockHash> names(ByteBuffer frame, Namespace namespace) throws ProtocolError {
    int count = count(frame);
    var names = new ArrayList<BlockHash>(Math.min(count, frame.remaining()));
    for (int i = 0; i < count; i++) names.add(namespace.name(frame));
    return names;
  }

  private static Load load(ByteBuffer frame, Namespace namespace) throws ProtocolError {
    long id = frame.getLong();
    int count = count(frame);
    var names = new ArrayList<BlockHash>();
    var rows = new int[count];
    for (int i = 0; i < count; i++) {
      rows[i] = frame.getInt();
      names.add(namespace.name(frame));
    }
    return new Load(id, names, rows);
  }

  private static Store store(ByteBuffer frame, Namespace namespace) throws ProtocolError {
    long id = frame.getLong();
    var tenant = tenant(frame);
    var before = frame.get() == 0 ? null : namespace.name(frame);
    int count = count(frame);
    var blocks = new ArrayList<TokenBlock>();
    var rows = new int[count];
    int last = TierProtocol.POSITION_UNKNOWN;
    for (int i = 0; i < count; i++) {
      rows[i] = frame.getInt();
      int position = frame.getInt();
      var name = namespace.name(frame);
      boolean follows = i == 0 || (last >= 0 && position == last + 1);
      blocks.add(block(name, follows ? before : null, position));
      before = name;
      last = position;
    }
    return new Store(id, tenant, blocks, rows);
  }

  /** A block whose place is not known counts as the first of a sequence. */
  private static TokenBlock block(BlockHash name, @Nullable BlockHash parent, int position) {
    boolean placed = position > 0 && parent != null && !parent.equals(name);
    return placed ? TokenBlock.named(name, parent, position) : TokenBlock.named(name, null, 0);
  }

  private static Ended endedRequest(ByteBuffer frame, Namespace namespace) throws ProtocolError {
    int output = frame.getInt();
    long tenant = frame.getLong();
    var returnHint =
        switch (frame.get()) {
          case 1 -> ReturnHint.Expectation.RETURNS;
          case 2 -> ReturnHint.Expectation.LAST;
          default -> ReturnHint.Expectation.NOTHING;
        };
    var names = names(frame, namespace);
    return new Ended(
        names, Math.max(EndedRequest.UNKNOWN, output), new ReturnHint(tenant, returnHint));
  }

  private static String tenant(ByteBuffer frame) {
    var bytes = new byte[TierProtocol.TENANT_BYTES];
    frame.get(bytes);
    for (byte each : bytes) if (each != 0) return HexFormat.of().formatHex(bytes);
    return "";
  }
}
