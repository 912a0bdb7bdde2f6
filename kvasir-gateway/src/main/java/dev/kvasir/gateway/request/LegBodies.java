package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.net.Json;
import io.vertx.core.buffer.Buffer;

/** The bodies that the two workers of a split request get, or the one that gets all of it. */
public final class LegBodies {
  static final String PARAMS = "kv_transfer_params";

  private static final String ONE = "1";
  private static final String NO = "false";
  private static final String EMPTY = "[]";
  private static final String ROOM = "bootstrap_room";
  private static final String ROOM_HOST = "bootstrap_host";
  private static final String ROOM_PORT = "bootstrap_port";

  private static final String PREFILL_PARAMS =
      "{\"do_remote_decode\":true,\"do_remote_prefill\":false,\"remote_engine_id\":null,"
          + "\"remote_block_ids\":null,\"remote_host\":null,\"remote_port\":null}";

  private final RequestFields fields;
  private final String salt;
  private final String priority;
  private final @Nullable Buffer form;
  private final String type;

  private LegBodies(
      RequestFields fields, String salt, String priority, @Nullable Buffer form, String type) {
    this.fields = fields;
    this.salt = salt;
    this.priority = priority;
    this.form = form;
    this.type = type;
  }

  /**
   * Bodies in JSON.
   *
   * @param salt what the tenant's blocks are mixed with, in place of what the caller sent; empty
   *     for no change
   * @param priority what workers are told of its urgency, in place of what the caller sent; empty
   *     for no change
   */
  static LegBodies of(RequestFields fields, String salt, String priority) {
    return new LegBodies(fields.withoutTree(), salt, priority, null, "application/json");
  }

  /** A body that only goes on as it is. */
  static LegBodies asItCame(Buffer form, String type) {
    return new LegBodies(RequestFields.NONE, "", "", form, type);
  }

  String contentType() {
    return type;
  }

  /** For a worker that does all of it. */
  public Buffer whole() {
    if (form != null) return form;
    return ours(clean()).buffer();
  }

  /** For the prefill by way of NIXL. */
  Buffer nixlPrefill() {
    return ours(oneToken(clean())).set(PARAMS, PREFILL_PARAMS).buffer();
  }

  /**
   * For the decode by way of NIXL.
   *
   * @param params what the prefill answered, as it stood there
   */
  Buffer nixlDecode(String params) {
    return ours(clean()).set(PARAMS, params).buffer();
  }

  Buffer mooncakePrefill(String transfer) {
    var params = Json.object();
    params.put("do_remote_decode", true);
    params.put("do_remote_prefill", false);
    params.put("transfer_id", transfer);
    return ours(oneToken(clean())).set(PARAMS, params.toString()).buffer();
  }

  Buffer mooncakeDecode(String transfer, String bootstrap, String engine) {
    var params = Json.object();
    params.put("do_remote_decode", false);
    params.put("do_remote_prefill", true);
    params.put("remote_bootstrap_addr", "http://" + bootstrap);
    params.put("remote_engine_id", engine);
    params.put("transfer_id", transfer);
    return ours(clean()).set(PARAMS, params.toString()).buffer();
  }

  /** For both, by way of SGLang. */
  Buffer sglang(String bootstrap, long room) {
    int colon = bootstrap.lastIndexOf(':');
    return ours(clean())
        .set(ROOM_HOST, Json.text(bootstrap.substring(0, colon)))
        .set(ROOM_PORT, bootstrap.substring(colon + 1))
        .set(ROOM, Long.toString(room))
        .buffer();
  }

  /** Callers do not get to say where workers fetch from. */
  private RequestFields.Edit clean() {
    var edit = fields.edit();
    for (var name : new String[] {PARAMS, ROOM, ROOM_HOST, ROOM_PORT}) {
      if (fields.has(name)) edit.remove(name);
    }
    return edit;
  }

  /** Sets the fields that the gateway says in the caller's place. */
  private RequestFields.Edit ours(RequestFields.Edit edit) {
    if (!priority.isEmpty()) edit = edit.set("priority", priority);
    return salt.isEmpty() ? edit : edit.set("cache_salt", Json.text(salt));
  }

  /**
   * The prefill makes one token, and nothing may end it sooner: a worker that ends on a stop token
   * throws away what the other waits for.
   */
  private static RequestFields.Edit oneToken(RequestFields.Edit edit) {
    return edit.set("stream", NO)
        .set("max_tokens", ONE)
        .replace("max_completion_tokens", ONE)
        .set("min_tokens", "0")
        .set("ignore_eos", "true")
        .replace("stop", EMPTY)
        .replace("stop_token_ids", EMPTY)
        .replace("n", ONE)
        .remove("stream_options", "best_of", "logprobs", "top_logprobs", "prompt_logprobs");
  }
}
