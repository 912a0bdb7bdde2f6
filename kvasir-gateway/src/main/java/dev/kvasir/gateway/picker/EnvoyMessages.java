package dev.kvasir.gateway.picker;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.picker.Proto.Malformed;
import dev.kvasir.gateway.picker.Proto.Reader;
import dev.kvasir.gateway.picker.Proto.Writer;
import dev.kvasir.net.ApiError;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Messages between Envoy and an endpoint picker: {@code ProcessingRequest} and {@code
 * ProcessingResponse} of {@code envoy.service.ext_proc.v3}, as far as a picker needs them.
 */
final class EnvoyMessages {
  /**
   * Name under which the picked endpoint stands, as header and in the metadata, and is asked back.
   */
  static final String DESTINATION = "x-gateway-destination-endpoint";

  private static final String SUBSET = DESTINATION + "-subset";
  private static final String SUBSET_SPACE = "envoy.lb.subset_hint";
  private static final String LB_SPACE = "envoy.lb";
  private static final int OVERWRITE_OR_ADD = 2;

  /** Envoy takes pieces of a body of less than 64 KiB. */
  private static final int PIECE_BYTES = 60 << 10;

  private EnvoyMessages() {}

  /** Direction of what is told of. */
  enum Side {
    REQUEST,
    RESPONSE
  }

  /** Mode in which Envoy sends a body, and what it expects back. */
  enum BodyMode {
    NONE,
    STREAMED,
    BUFFERED,
    BUFFERED_PARTIAL,
    /** A body that is answered with the body, in pieces of any number. */
    FULL_DUPLEX,
    GRPC;

    static BodyMode of(long number) {
      if (number < 0 || number >= values().length) throw new Malformed("body mode " + number);
      return values()[(int) number];
    }
  }

  /** The last message of a body in pieces: its last piece, or trailers behind it. */
  enum BodyEnd {
    PIECE,
    TRAILERS
  }

  /** Message of Envoy about a request or its answer. */
  sealed interface EnvoyMessage {
    Side side();
  }

  record Headers(Side side, Map<String, String> all, boolean isLast) implements EnvoyMessage {
    @Nullable
    String get(String name) {
      return all.get(name);
    }
  }

  record Body(Side side, Buffer bytes, boolean isLast) implements EnvoyMessage {}

  record Trailers(Side side) implements EnvoyMessage {}

  /**
   * A message of Envoy.
   *
   * @param subset the endpoints to choose from; null for all
   * @param request how bodies of requests come; null where the message does not tell
   * @param isObserved whether no answer is expected
   */
  record Incoming(
      EnvoyMessage message,
      @Nullable List<String> subset,
      @Nullable BodyMode request,
      @Nullable BodyMode response,
      boolean isObserved) {}

  /** Throws {@link Malformed} for what is no such message. */
  static Incoming read(Buffer bytes) {
    var reader = new Reader(bytes);
    EnvoyMessage message = null;
    List<String> subset = null;
    BodyMode request = null;
    BodyMode response = null;
    boolean isObserved = false;
    while (reader.next()) {
      switch (reader.field()) {
        case 2 -> message = headers(Side.REQUEST, reader.message());
        case 3 -> message = headers(Side.RESPONSE, reader.message());
        case 4 -> message = body(Side.REQUEST, reader.message());
        case 5 -> message = body(Side.RESPONSE, reader.message());
        case 6 -> message = new Trailers(Side.REQUEST);
        case 7 -> message = new Trailers(Side.RESPONSE);
        case 8 -> subset = subset(reader.message());
        case 10 -> isObserved = reader.isTrue();
        case 11 -> {
          request = mode(reader.message(), 1);
          response = mode(reader.message(), 2);
        }
        default -> {}
      }
    }
    if (message == null) throw new Malformed("neither headers nor a body nor trailers");
    return new Incoming(message, subset, request, response, isObserved);
  }

  /** A field that stands at its first value is not written. */
  private static BodyMode mode(Reader protocol, int field) {
    var mode = BodyMode.NONE;
    while (protocol.next()) {
      if (protocol.field() == field) mode = BodyMode.of(protocol.number());
    }
    return mode;
  }

  private static Headers headers(Side side, Reader reader) {
    var all = new LinkedHashMap<String, String>();
    boolean isLast = false;
    while (reader.next()) {
      if (reader.field() == 1) header(reader.message(), all);
      if (reader.field() == 3) isLast = reader.isTrue();
    }
    return new Headers(side, all, isLast);
  }

  /** Of several with one name the first counts, as it does at the gateway. */
  private static void header(Reader map, Map<String, String> all) {
    while (map.next()) {
      if (map.field() != 1) continue;
      var one = map.message();
      var name = "";
      var value = "";
      while (one.next()) {
        if (one.field() == 1) name = one.text();
        if (one.field() == 2 || one.field() == 3) {
          var text = one.text();
          if (!text.isEmpty()) value = text;
        }
      }
      all.putIfAbsent(name, value);
    }
  }

  private static Body body(Side side, Reader reader) {
    var bytes = Buffer.buffer();
    boolean isLast = false;
    while (reader.next()) {
      if (reader.field() == 1) bytes = reader.bytes();
      if (reader.field() == 2) isLast = reader.isTrue();
    }
    return new Body(side, bytes, isLast);
  }

  /** From {@code Metadata.filter_metadata}, a map of structures. */
  private static @Nullable List<String> subset(Reader metadata) {
    var space = entry(metadata, SUBSET_SPACE);
    var value = space == null ? null : entry(space, SUBSET);
    return value == null ? null : endpoints(value);
  }

  /** The value of a map, which stands in the message's first field; null where it has none. */
  private static @Nullable Reader entry(Reader map, String wanted) {
    while (map.next()) {
      if (map.field() != 1) continue;
      var pair = map.message();
      var key = "";
      Reader value = null;
      while (pair.next()) {
        if (pair.field() == 1) key = pair.text();
        if (pair.field() == 2) value = pair.message();
      }
      if (key.equals(wanted) && value != null) return value;
    }
    return null;
  }

  /** A list of texts, or one text with commas. */
  private static List<String> endpoints(Reader value) {
    var endpoints = new ArrayList<String>();
    while (value.next()) {
      if (value.field() == 3) {
        for (var each : value.text().split(",", -1)) endpoints.add(each.strip());
      } else if (value.field() == 6) {
        var list = value.message();
        while (list.next()) if (list.field() == 1) endpoints.addAll(endpoints(list.message()));
      }
    }
    return endpoints;
  }

  /** Changes to a request's head, and where it is to go. */
  static final class Change {
    private final Writer mutation = new Writer();
    private String endpoint = "";

    Change set(String name, String value) {
      var header = new Writer().text(1, name).bytes(3, Buffer.buffer(value));
      mutation.message(1, new Writer().message(1, header).number(3, OVERWRITE_OR_ADD));
      return this;
    }

    Change remove(String name) {
      mutation.text(2, name);
      return this;
    }

    /** Sends it there, by header and by metadata, which must not differ. */
    Change to(String hostAndPort) {
      endpoint = hostAndPort;
      return set(DESTINATION, hostAndPort);
    }
  }

  /** Goes on with the headers as they are. */
  static Buffer headers(Side side) {
    return response(side == Side.REQUEST ? 1 : 2, new Writer());
  }

  /** Goes on with changed headers of a request. */
  static Buffer headers(Change change) {
    return placed(1, new Writer(), change);
  }

  /** Goes on with a request of which headers and perhaps the body are changed. */
  static Buffer body(Change change, @Nullable Buffer other) {
    var common = new Writer();
    if (other != null) common.message(3, new Writer().bytes(1, other));
    return placed(3, common, change);
  }

  /** Goes on with the piece of a body as it is. */
  static Buffer body(Side side) {
    return response(side == Side.REQUEST ? 3 : 4, new Writer());
  }

  /** Gives a piece of a body, where what is answered is the body. */
  static Buffer piece(Body piece) {
    var streamed = new Writer().bytes(1, piece.bytes()).number(2, piece.isLast() ? 1 : 0);
    var common = new Writer().message(3, new Writer().message(3, streamed));
    return response(piece.side() == Side.REQUEST ? 3 : 4, common);
  }

  /** Gives the body of a request, in pieces that Envoy takes. */
  static List<Buffer> pieces(Buffer all, BodyEnd end) {
    var pieces = new ArrayList<Buffer>();
    int at = 0;
    do {
      int to = Math.min(all.length(), at + PIECE_BYTES);
      boolean isLast = to == all.length() && end == BodyEnd.PIECE;
      pieces.add(piece(new Body(Side.REQUEST, all.getBuffer(at, to), isLast)));
      at = to;
    } while (at < all.length());
    return pieces;
  }

  /** Goes on with a part of an answer as it is; its body is given back where that is expected. */
  static Buffer unchanged(EnvoyMessage part, BodyMode mode) {
    return switch (part) {
      case Headers _ -> headers(part.side());
      case Body piece -> mode == BodyMode.FULL_DUPLEX ? piece(piece) : body(part.side());
      case Trailers _ -> trailers(part.side());
    };
  }

  static Buffer trailers(Side side) {
    return new Writer().message(side == Side.REQUEST ? 5 : 6, new Writer()).buffer();
  }

  /** Answers the request at once. */
  static Buffer immediate(ApiError error) {
    var headers = new Change().set("content-type", "application/json");
    if (error.retryAfterSeconds() > 0) {
      headers.set("retry-after", Long.toString(error.retryAfterSeconds()));
    }
    if (error.status() == 401) headers.set("www-authenticate", "Bearer");
    var immediate =
        new Writer()
            .message(1, new Writer().number(1, error.status()))
            .message(2, headers.mutation)
            .text(3, error.json())
            .text(5, "kvasir_" + error.code());
    return new Writer().message(7, immediate).buffer();
  }

  private static Buffer response(int field, Writer common) {
    return new Writer().message(field, new Writer().message(1, common)).buffer();
  }

  /** The route is looked up again: it may depend on what was changed. */
  private static Buffer placed(int field, Writer common, Change change) {
    common.message(2, change.mutation).number(5, 1);
    var response = new Writer().message(field, new Writer().message(1, common));
    if (!change.endpoint.isEmpty()) {
      var text = new Writer().text(3, change.endpoint);
      var space = new Writer().message(1, new Writer().text(1, DESTINATION).message(2, text));
      var value = new Writer().message(5, space);
      response.message(
          8, new Writer().message(1, new Writer().text(1, LB_SPACE).message(2, value)));
    }
    return response.buffer();
  }
}
