package dev.kvasir.gateway.request;

import dev.kvasir.net.Json;
import dev.kvasir.net.Refused;
import java.util.Locale;

/**
 * An error that a worker told in the middle of a stream.
 *
 * @param code as a status; 0 where it tells none
 * @param type the kind of error; empty where it tells none
 */
record StreamError(int code, String type) {
  /** From the JSON of the event; one that cannot be read tells nothing. */
  static StreamError of(byte[] json) {
    try {
      var error = Json.read(json).path("error");
      return new StreamError(
          error.path("code").asInt(0), error.path("type").asString("").toLowerCase(Locale.ROOT));
    } catch (Refused e) {
      return new StreamError(0, "");
    }
  }

  /** An error of the request is the caller's; all others are taken for the worker's. */
  boolean isWorkersFault() {
    boolean callers = code >= 400 && code < 500;
    boolean isRequestError = type.equals("invalid_request_error") || type.equals("badrequesterror");
    return !callers && !isRequestError;
  }
}
