package dev.kvasir.net;

import dev.kvasir.Nullable;
import dev.kvasir.router.limit.Refusal;
import java.time.Duration;

/**
 * Reason for which a request is not served, as clients of the OpenAI interface expect to be told.
 *
 * @param status of the answer
 * @param type the kind of error, e.g. {@code invalid_request_error}
 * @param code the error itself, for programs
 * @param message for people; says what to do
 * @param param the field that is wrong; null where it is none
 * @param allow the methods that would do, for a wrong one; else empty
 * @param retryAfter when to come again; zero where that would not help
 */
public record ApiError(
    int status,
    String type,
    String code,
    String message,
    @Nullable String param,
    String allow,
    Duration retryAfter) {
  private static final String INVALID = "invalid_request_error";
  private static final String SERVER = "server_error";

  public ApiError {
    if (status < 400 || status > 599) throw new IllegalArgumentException("status " + status);
    if (retryAfter.isNegative()) throw new IllegalArgumentException("retry in " + retryAfter);
  }

  public static ApiError of(int status, String type, String code, String message) {
    return new ApiError(status, type, code, message, null, "", Duration.ZERO);
  }

  public static ApiError badRequest(String message) {
    return of(400, INVALID, "invalid_request", message);
  }

  /** A field of the request has a value that cannot be used. */
  public static ApiError badField(String param, String message) {
    return new ApiError(400, INVALID, "invalid_value", message, param, "", Duration.ZERO);
  }

  public static ApiError unauthorised() {
    return of(401, INVALID, "invalid_api_key", "send a valid key as \"Authorization: Bearer KEY\"");
  }

  public static ApiError forbidden(String message) {
    return of(403, "permission_error", "forbidden", message);
  }

  public static ApiError unknownPath() {
    return of(404, INVALID, "unknown_path", "there is nothing at this path");
  }

  public static ApiError unknownModel(String model) {
    return of(
        404,
        INVALID,
        "model_not_found",
        "the model \"" + model + "\" is not here; see /v1/models for those that are");
  }

  public static ApiError wrongMethod(String allow) {
    var message = "this path takes " + allow;
    return new ApiError(405, INVALID, "wrong_method", message, null, allow, Duration.ZERO);
  }

  public static ApiError tooLarge(long bytesMax) {
    return of(413, INVALID, "body_too_large", "the body may have " + bytesMax + " bytes");
  }

  public static ApiError noBody() {
    return of(400, INVALID, "unexpected_body", "this path takes no body: send none");
  }

  public static ApiError notJson() {
    return of(415, INVALID, "wrong_content_type", "send the body as application/json");
  }

  public static ApiError notForm() {
    return of(415, INVALID, "wrong_content_type", "send the body as multipart/form-data");
  }

  public static ApiError encoded() {
    return of(415, INVALID, "wrong_content_encoding", "send the body uncompressed");
  }

  /** The caller asks for more than its share. */
  public static ApiError tooMany(String code, String message, Duration retryAfter) {
    return new ApiError(429, "rate_limit_error", code, message, null, "", retryAfter);
  }

  public static ApiError internal() {
    return of(500, SERVER, "internal_error", "something is wrong here; see the server's log");
  }

  /** Returns the error for a failure of the server that should have answered. */
  public static ApiError badUpstream(String message) {
    return of(502, SERVER, "upstream_failed", message);
  }

  /** Nobody is there to serve it at the moment. */
  public static ApiError unavailable(String code, String message, Duration retryAfter) {
    return new ApiError(503, SERVER, code, message, null, "", retryAfter);
  }

  /** The answer to a request that the flow does not serve. */
  public static ApiError of(Refusal refusal) {
    var message = refusal.message();
    var retryAfter = refusal.retryAfter();
    return switch (refusal.kind()) {
      case TOO_MANY_CONCURRENT -> tooMany("too_many_concurrent", message, retryAfter);
      case RATE_LIMITED -> tooMany("rate_limited", message, retryAfter);
      case NOT_ADMITTED -> tooMany("not_admitted", message, retryAfter);
      case QUEUE_FULL -> tooMany("queue_full", message, retryAfter);
      case LATE -> tooMany("late", message, retryAfter);
      case QUEUE_TIMEOUT -> unavailable("queue_timeout", message, retryAfter);
      case UNKNOWN_MODEL -> unknownModel(message);
      case NO_WORKER -> unavailable("no_worker", message, retryAfter);
      case FAILED -> badUpstream(message);
    };
  }

  /** The body of the answer; also what an event in a stream holds. */
  public String json() {
    var error = Json.object();
    error.put("message", message);
    error.put("type", type);
    error.put("param", param);
    error.put("code", code);
    var whole = Json.object();
    whole.set("error", error);
    return whole.toString();
  }

  /** Whole seconds, rounded up; 0 where there is nothing to say. */
  public long retryAfterSeconds() {
    return retryAfter.plusNanos(999_999_999).toSeconds();
  }
}
