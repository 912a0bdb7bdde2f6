package dev.kvasir.gateway.picker;

import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.picker.EnvoyMessages.BodyMode;
import dev.kvasir.gateway.picker.EnvoyMessages.Change;
import dev.kvasir.gateway.picker.EnvoyMessages.Headers;
import dev.kvasir.gateway.request.ApiPath;
import dev.kvasir.gateway.request.Placed;
import dev.kvasir.gateway.request.RequestHeaders;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.auth.Caller;
import dev.kvasir.net.openai.SessionHint;
import dev.kvasir.net.server.HttpLimits;
import dev.kvasir.router.flow.Step;

/** The head of a request that Envoy asks about; refuses what can be refused for it alone. */
final class RequestHead {
  private static final System.Logger LOG = System.getLogger(RequestHead.class.getName());

  private final Headers headers;
  private final Picker.Parts picker;
  private final HttpLimits limits;

  RequestHead(Headers headers, Picker.Parts picker) {
    this.headers = headers;
    this.picker = picker;
    this.limits = picker.settings().listen().limits();
    if (headers.all().size() > limits.headersMax()) {
      throw new Refused(
          ApiError.of(431, "invalid_request_error", "too_many_headers", "send fewer headers"));
    }
  }

  /** Returns the caller, by its key. */
  Caller caller() {
    return keys().admit(Access.KEY, headers.get("authorization"));
  }

  /** Returns the name by which the request is known, of which there is but one. */
  String id(long number) {
    var given = RequestHeaders.usable(headers.get("x-request-id"));
    return given == null ? "picked-" + number : given + "-" + number;
  }

  /**
   * Returns the path, if the gateway would read the request; empty for what goes to any worker. A
   * worker decodes paths before it looks at them: one that it could read as another is refused, and
   * with keys whatever the gateway does not have either.
   */
  String path() {
    var fullPath = String.valueOf(headers.get(":path"));
    var method = String.valueOf(headers.get(":method"));
    int query = fullPath.indexOf('?');
    var path = query < 0 ? fullPath : fullPath.substring(0, query);
    var known = ApiPath.find(path);
    if (known != null) {
      if (method.equals("POST")) return path;
      throw new Refused(ApiError.wrongMethod("POST"));
    }
    boolean isOpen = keys().all().isEmpty() || isPublic(method, path);
    if (!isOpen || ApiPath.isMeantBy(path)) throw new Refused(ApiError.unknownPath());
    return "";
  }

  private static boolean isPublic(String method, String path) {
    boolean isThere = path.equals("/health") || path.equals("/v1/models");
    return method.equals("GET") && (isThere || path.matches("/v1/models/[A-Za-z0-9._:/-]+"));
  }

  /** Refuses before its first byte a body that would not be read to its end. */
  void requireReadable(BodyMode mode) {
    if (mode != BodyMode.BUFFERED && mode != BodyMode.FULL_DUPLEX) {
      LOG.log(
          ERROR,
          "Envoy sends bodies of requests in mode {0}: set request_body_mode to"
              + " FULL_DUPLEX_STREAMED or BUFFERED",
          mode);
      throw new Refused(ApiError.internal());
    }
    var length = headers.get("content-length");
    int bytesMax = limits.bodyBytes();
    if (length != null && (length.length() > 18 || !length.matches("\\d+"))) {
      throw new Refused(ApiError.badRequest("content-length is no number"));
    }
    if (length != null && Long.parseLong(length) > bytesMax) {
      throw new Refused(ApiError.tooLarge(bytesMax));
    }
  }

  /**
   * Returns what changes in the head of a request that goes there. A caller does not get to say who
   * prefills, nor does its key here reach a worker.
   */
  Change change(Step.Send legs, Placed where, SessionHint hint) {
    var decoder = where.decode();
    var change = new Change().to(picker.addresses().of(decoder));
    var header = picker.settings().prefillHeader();
    if (isSplit(legs)) change.set(header, picker.addresses().of(where.prefiller()));
    else change.remove(header);
    if (decoder.rank() >= 0) change.set("x-data-parallel-rank", Integer.toString(decoder.rank()));
    var authorization = picker.gateway().upstream().authorization();
    if (!authorization.isEmpty()) change.set("authorization", authorization);
    else if (!keys().all().isEmpty()) change.remove("authorization");
    if (!hint.session().isEmpty()) change.set(SessionHint.SESSION, hint.session());
    if (!hint.lastTurn().isEmpty()) change.set(SessionHint.LAST_TURN, hint.lastTurn());
    if (hint.pinSeconds() > 0) change.set(SessionHint.PIN, Integer.toString(hint.pinSeconds()));
    return change;
  }

  /** Returns whether one worker prefills for another. */
  static boolean isSplit(Step.Send legs) {
    return legs == Step.Send.PREFILL || legs == Step.Send.PREFILL_AND_DECODE;
  }

  /** Returns the value of a header by its name in lower case; null if there is none. */
  @Nullable
  String get(String name) {
    return headers.get(name);
  }

  /** Returns whether no body follows. */
  boolean isLast() {
    return headers.isLast();
  }

  /** Returns the keys that are valid now. */
  private ApiKeys keys() {
    return picker.keys().get();
  }
}
