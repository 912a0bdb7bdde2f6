package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.journal.RequestDetails;
import dev.kvasir.gateway.journal.TraceMark;
import dev.kvasir.gateway.worker.Connector;
import dev.kvasir.gateway.worker.Upstream;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Refused;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.net.worker.NamedTokens;
import dev.kvasir.net.worker.WorkerMessage;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The messages that workers get of one request. Those of a split request say how the decode comes
 * by what was prefilled, each connector in its own way.
 */
final class LegMessages {
  private final RequestDetails details;
  private final LegBodies bodies;
  private final @Nullable NamedTokens prompt;
  private final MultiMap headers;

  /** The answer of the prefill by way of NIXL, for the decode. */
  private String params = "";

  /** The number by which the two workers of an attempt by way of SGLang find each other. */
  private long room;

  private LegMessages(Exchange exchange, RequestReader.Read read, @Nullable NamedTokens prompt) {
    this.details = read.details();
    this.bodies = read.bodies();
    this.prompt = prompt;
    this.headers = RequestHeaders.forWorker(exchange);
    RequestHeaders.addHints(read.hint(), headers);
    var trace = details.trace();
    if (trace != null) headers.set(TraceMark.HEADER, trace.header());
    headers.set(HttpHeaders.CONTENT_TYPE, bodies.contentType());
  }

  static LegMessages of(Exchange exchange, RequestReader.Read read, Upstream upstream) {
    return new LegMessages(exchange, read, upstream.isLocal() ? read.prompt() : null);
  }

  /** Returns the message for a worker that does all of it. */
  WorkerMessage whole(Placed where) {
    return message(where, bodies.whole());
  }

  /** Returns the message for the worker that prefills. */
  WorkerMessage prefill(Placed where) {
    params = "";
    var worker = where.prefiller();
    return message(where, prefillBody(where, worker));
  }

  private Buffer prefillBody(Placed where, Worker worker) {
    return switch (worker.connector()) {
      case NIXL -> bodies.nixlPrefill();
      case MOONCAKE -> bodies.mooncakePrefill(transfer(where));
      case SGLANG -> {
        // Nobody else may guess it by chance.
        room = ThreadLocalRandom.current().nextLong(Long.MAX_VALUE);
        yield bodies.sglang(worker.bootstrap(), room);
      }
      case NONE -> throw new IllegalStateException(worker + " hands over to nobody");
    };
  }

  /** Keeps what the answer of a prefill says for the decode; false if it says nothing. */
  boolean keepParams(Buffer answer) {
    try {
      var raw = RequestFields.of(answer.getBytes()).raw(LegBodies.PARAMS);
      var found = new String(raw, StandardCharsets.UTF_8);
      if (!found.startsWith("{")) return false;
      params = found;
      return true;
    } catch (Refused e) {
      return false;
    }
  }

  /** Returns the message for the worker that decodes what another one prefilled. */
  WorkerMessage decode(Placed where) {
    return message(where, decodeBody(where));
  }

  /** By way of NIXL, an earlier attempt may have prefilled it, at another worker. */
  private Buffer decodeBody(Placed where) {
    if (!params.isEmpty()) return bodies.nixlDecode(params);
    var prefiller = where.prefiller();
    // Engines of one process find what they prefilled in the tiers that they share.
    if (prefiller.isEmbedded()) return bodies.whole();
    return prefiller.connector() == Connector.SGLANG
        ? bodies.sglang(prefiller.bootstrap(), room)
        : bodies.mooncakeDecode(transfer(where), prefiller.bootstrap(), where.engine());
  }

  private String transfer(Placed where) {
    return "xfer-" + id(where);
  }

  /** Returns the id of an attempt: workers must not take two of them for the same. */
  private String id(Placed where) {
    int attempt = where.attempt();
    return attempt == 1 ? details.id() : details.id() + "-" + attempt;
  }

  private WorkerMessage message(Placed where, Buffer body) {
    headers.set(RequestHeaders.ID_HEADER, id(where));
    return WorkerMessage.post(details.path(), headers, body).with(prompt);
  }
}
