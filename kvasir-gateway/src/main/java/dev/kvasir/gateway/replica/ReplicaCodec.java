package dev.kvasir.gateway.replica;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.journal.NameKey;
import dev.kvasir.net.Json;
import dev.kvasir.router.limit.KeyLimits;
import dev.kvasir.router.limit.KeyRow;
import dev.kvasir.router.replica.ReplicaMessage;
import dev.kvasir.router.replica.ReplicaMessage.Home;
import dev.kvasir.router.replica.ReplicaMessage.Kind;
import dev.kvasir.router.replica.ReplicaMessage.WorkerRow;
import dev.kvasir.router.view.BookedLoad;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

/**
 * Messages between gateways as bytes: 32 of a seal by the tenants' secret, then JSON.
 *
 * <p>Who can write to the Redis, but does not know the secret, can tell gateways nothing.
 */
final class ReplicaCodec {
  static final int BYTES_MAX = 16 << 20;

  private static final int SEAL_BYTES = 32;

  /** Another number is another form of the message. */
  private static final int FORM = 1;

  private static final int ADDRESS_CHARS_MAX = 512;

  /**
   * Message as it was received.
   *
   * @param address where the sender serves its snapshots; empty if it gives no address
   */
  record Received(ReplicaMessage message, String address) {}

  private final NameKey secret;
  private final String address;

  /**
   * Writes and reads.
   *
   * @param address where other gateways reach this one; empty where they need not
   */
  ReplicaCodec(NameKey secret, String address) {
    this.secret = secret;
    this.address = address;
  }

  byte[] encode(ReplicaMessage message) {
    var json = Json.object();
    json.put("form", FORM);
    json.put("gateway", message.gateway());
    json.put("epoch", message.epoch());
    json.put("number", message.number());
    json.put("kind", message.kind().name());
    if (!message.terms().isEmpty()) json.put("address", address);
    var terms = json.putArray("terms");
    message.terms().forEach(terms::add);
    var workers = json.putArray("workers");
    for (var row : message.workers()) write(workers.addArray(), row);
    var keys = json.putArray("keys");
    for (var row : message.keys()) write(keys.addArray(), row);
    var homes = json.putArray("homes");
    for (var home : message.homes()) homes.addArray().add(home.session()).add(home.worker());
    var text = json.toString().getBytes(StandardCharsets.UTF_8);
    var seal = secret.seal(text);
    var bytes = Arrays.copyOf(seal, SEAL_BYTES + text.length);
    System.arraycopy(text, 0, bytes, SEAL_BYTES, text.length);
    return bytes;
  }

  private static void write(ArrayNode to, WorkerRow row) {
    var load = row.load();
    to.add(row.worker()).add(row.ejections()).add(load.inFlight()).add(load.prefills());
    to.add(load.prefillTokens()).add(load.prefillWork()).add(load.streams());
    to.add(load.contextTokens()).add(load.placements()).add(load.recentWork());
  }

  private static void write(ArrayNode to, KeyRow row) {
    var limits = row.limits();
    to.add(row.key()).add(limits.requestsPerMinute()).add(limits.tokensPerMinute());
    to.add(limits.concurrentMax()).add(row.requests()).add(row.tokens()).add(row.concurrent());
    to.add(row.requestsLeft()).add(row.tokensLeft());
  }

  /** The message; null for what is none, or is not sealed by the same secret. */
  @Nullable
  Received decode(byte[] bytes) {
    if (bytes.length <= SEAL_BYTES || bytes.length > BYTES_MAX) return null;
    var text = Arrays.copyOfRange(bytes, SEAL_BYTES, bytes.length);
    if (!MessageDigest.isEqual(secret.seal(text), Arrays.copyOf(bytes, SEAL_BYTES))) return null;
    try {
      var json = Json.read(text);
      if (json.path("form").asInt(0) != FORM) return null;
      var message =
          new ReplicaMessage(
              json.path("gateway").asString(),
              json.path("epoch").asLong(),
              json.path("number").asLong(),
              Kind.valueOf(json.path("kind").asString()),
              rows(json.path("terms"), JsonNode::asString),
              rows(json.path("workers"), ReplicaCodec::worker),
              rows(json.path("keys"), ReplicaCodec::key),
              rows(json.path("homes"), ReplicaCodec::home));
      var senderAddress = json.path("address").asString("");
      return new Received(message, senderAddress.length() > ADDRESS_CHARS_MAX ? "" : senderAddress);
    } catch (RuntimeException e) {
      return null;
    }
  }

  private static <T> List<T> rows(JsonNode array, Function<JsonNode, T> read) {
    var rows = new ArrayList<T>(array.size());
    for (var each : array) rows.add(read.apply(each));
    return rows;
  }

  private static WorkerRow worker(JsonNode row) {
    var load =
        new BookedLoad(
            row.get(2).asInt(),
            row.get(3).asInt(),
            row.get(4).asLong(),
            row.get(5).asLong(),
            row.get(6).asInt(),
            row.get(7).asLong(),
            row.get(8).asInt(),
            row.get(9).asLong());
    return new WorkerRow(row.get(0).asString(), load, row.get(1).asLong());
  }

  private static KeyRow key(JsonNode row) {
    var limits = new KeyLimits(row.get(1).asInt(), row.get(2).asInt(), row.get(3).asInt());
    return new KeyRow(
        row.get(0).asString(),
        limits,
        row.get(4).asLong(),
        row.get(5).asLong(),
        row.get(6).asInt(),
        row.get(7).asDouble(),
        row.get(8).asDouble());
  }

  private static Home home(JsonNode row) {
    return new Home(row.get(0).asString(), row.get(1).asString());
  }
}
