package dev.kvasir.gateway.request;

import dev.kvasir.embedded.api.CallReader;
import dev.kvasir.events.EventDecoder;
import dev.kvasir.events.EventLimits;
import dev.kvasir.gateway.worker.WorkerMetrics;
import dev.kvasir.net.Json;
import dev.kvasir.net.Refused;
import dev.kvasir.net.openai.EventSplitter;
import dev.kvasir.net.openai.Usage;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * The parsers of what strangers send, each with what must be so whatever the bytes are.
 *
 * <p>The first byte chooses the parser, the second where the rest is cut. A fuzzer calls {@link
 * #fuzzerTestOneInput}; {@code tools/fuzz-parsers} has Jazzer do so.
 */
public final class ParserTarget {
  /** Kinds of input. */
  enum Kind {
    REQUEST,
    STREAM,
    USAGE,
    METRICS,
    KV_EVENTS,
    ENGINE_CALL
  }

  private static final EventDecoder DECODER = new EventDecoder(EventLimits.DEFAULT);
  private static final CallReader CALLS = new CallReader(1);
  private static final int BLOCK_TOKENS = 16;

  private ParserTarget() {}

  /** Throws where a parser does, or what it says is not so. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length < 2) return;
    var kinds = Kind.values();
    var rest = Arrays.copyOfRange(input, 2, input.length);
    int cut = rest.length * Byte.toUnsignedInt(input[1]) / 256;
    read(kinds[Byte.toUnsignedInt(input[0]) % kinds.length], rest, cut);
  }

  static void read(Kind kind, byte[] bytes, int cut) {
    switch (kind) {
      case REQUEST -> request(bytes);
      case STREAM -> stream(bytes, cut);
      case USAGE -> usage(bytes, cut);
      case METRICS -> metrics(bytes);
      case KV_EVENTS -> Objects.requireNonNull(DECODER.decode(bytes));
      case ENGINE_CALL -> call(bytes);
    }
  }

  /**
   * Checks that the fields are those of the tree, and that the legs are JSON without what is taken
   * out.
   */
  private static void request(byte[] bytes) {
    RequestFields fields;
    try {
      fields = RequestFields.of(bytes);
    } catch (Refused e) {
      return;
    }
    var tree = Json.read(bytes);
    for (var entry : tree.properties()) {
      require(fields.has(entry.getKey()), "a field is lost");
      var value = Json.read(fields.raw(entry.getKey()));
      require(value.equals(entry.getValue()), "another value");
    }
    try {
      for (var path : ApiPath.values()) {
        var names = BlockNamer.ofBytes(path, fields, "", "", BLOCK_TOKENS);
        require(names.tokens() > 0, "no tokens");
        BlockNamer.hasMedia(path, fields);
        var chat = ChatForm.of(path, fields);
        if (chat != null) Json.read(chat);
      }
      fields.shortText("model", 256);
      fields.isTrue("stream");
    } catch (Refused e) {
      return;
    }
    var legs = LegBodies.of(fields, "salt", "1");
    for (var leg : new Buffer[] {legs.whole(), legs.nixlPrefill(), legs.sglang("h:1", 7)}) {
      var sent = Json.read(leg.getBytes());
      require(sent.path("cache_salt").asString("").equals("salt"), "a salt of the caller");
      require(
          !sent.path(LegBodies.PARAMS).has("remote_port_of_caller"), "parameters of the caller");
    }
    require(!Json.read(legs.whole().getBytes()).has(LegBodies.PARAMS), "parameters of the caller");
  }

  /** In pieces it says what it says at once, and sends on all that is whole, in its order. */
  private static void stream(byte[] bytes, int cut) {
    var whole = new EventSplitter();
    var once = whole.feed(Buffer.buffer(bytes));
    var parts = new EventSplitter();
    var pieces = Buffer.buffer();
    pieces.appendBuffer(parts.feed(Buffer.buffer(Arrays.copyOf(bytes, cut))));
    pieces.appendBuffer(parts.feed(Buffer.buffer(Arrays.copyOfRange(bytes, cut, bytes.length))));
    require(pieces.equals(once), "other events in pieces");
    require(Arrays.equals(once.getBytes(), Arrays.copyOf(bytes, once.length())), "other bytes");
    require(whole.events() == parts.events(), "other counts");
    require(whole.isDone() == parts.isDone(), "another end");
    require(Arrays.equals(whole.error(), parts.error()), "another error");
    require(Usage.of(whole.usage()).equals(Usage.of(parts.usage())), "another account");
    var error = whole.error();
    if (error != null) StreamError.of(error).isWorkersFault();
  }

  private static void usage(byte[] bytes, int cut) {
    var whole = new UsageScanner();
    whole.feed(Buffer.buffer(bytes));
    var parts = new UsageScanner();
    parts.feed(Buffer.buffer(Arrays.copyOf(bytes, cut)));
    parts.feed(Buffer.buffer(Arrays.copyOfRange(bytes, cut, bytes.length)));
    require(whole.usage().equals(parts.usage()), "another account in pieces");
  }

  private static void metrics(byte[] bytes) {
    var report = WorkerMetrics.read(new String(bytes, StandardCharsets.UTF_8), BLOCK_TOKENS);
    for (double share : new double[] {report.hitRate(), report.gpuUtilisation()}) {
      require(share >= -1 && share <= 1, "a share of " + share);
    }
  }

  private static void call(byte[] bytes) {
    try {
      CALLS.chat(bytes);
      CALLS.text(bytes);
    } catch (Refused e) {
      // Whatever cannot be read is refused with these.
    }
    try {
      CallReader.tokenized(bytes);
      CallReader.tokens(bytes);
    } catch (Refused e) {
      // As above.
    }
  }

  private static void require(boolean holds, String message) {
    if (!holds) throw new AssertionError(message);
  }
}
