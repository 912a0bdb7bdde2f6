package dev.kvasir.gateway.picker;

import dev.kvasir.gateway.picker.EnvoyMessages.BodyMode;
import dev.kvasir.gateway.picker.EnvoyMessages.Headers;
import dev.kvasir.gateway.request.AnswerMeter;
import dev.kvasir.gateway.request.FlowConnection;
import io.vertx.core.buffer.Buffer;

/** The answer of a request that passes through Envoy: counts what Envoy tells of it. */
final class PickedAnswer {
  private static final int OK = 200;

  private final FlowConnection connection;
  private final BodyMode mode;
  private final int status;
  private final AnswerMeter meter;

  /**
   * An answer of which the head has come.
   *
   * @param mode in which its body is told
   */
  PickedAnswer(FlowConnection connection, Headers head, BodyMode mode) {
    this.connection = connection;
    this.mode = mode;
    var statusText = head.get(":status");
    this.status =
        statusText != null && statusText.matches("\\d{3}") ? Integer.parseInt(statusText) : 0;
    this.meter = new AnswerMeter(status, head.get("content-type"));
  }

  /** Returns whether the workers did what they were asked for. */
  boolean isOk() {
    return status == OK;
  }

  /** Takes the head for the first token, if nothing is told of the body of a stream. */
  void begin() {
    if (mode == BodyMode.NONE && !connection.isWhole() && isOk()) connection.firstToken();
  }

  void feed(Buffer piece) {
    connection.emitted(meter.feed(piece));
  }

  /** Notes that the answer has come to its end. */
  void ended() {
    var how = meter.ended();
    connection.ended(how, meter.verdict(how));
  }

  /** Notes that nothing more of the answer is told. */
  void left() {
    var how = mode == BodyMode.NONE ? meter.ended() : meter.left();
    connection.conclude(how, meter.verdict(how));
  }
}
