package dev.kvasir.gateway.picker;

import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.journal.RequestDetails;
import dev.kvasir.gateway.picker.EnvoyMessages.Body;
import dev.kvasir.gateway.picker.EnvoyMessages.BodyEnd;
import dev.kvasir.gateway.picker.EnvoyMessages.BodyMode;
import dev.kvasir.gateway.picker.EnvoyMessages.Headers;
import dev.kvasir.gateway.picker.EnvoyMessages.Side;
import dev.kvasir.gateway.picker.EnvoyMessages.Trailers;
import dev.kvasir.gateway.picker.Picker.Result;
import dev.kvasir.gateway.picker.Proto.Malformed;
import dev.kvasir.gateway.request.FlowConnection;
import dev.kvasir.gateway.request.GatewayParts;
import dev.kvasir.gateway.request.LegBodies;
import dev.kvasir.gateway.request.Placed;
import dev.kvasir.gateway.request.RequestReader;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import dev.kvasir.net.openai.SessionHint;
import dev.kvasir.router.flow.Step;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.worker.Submission;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Objects;

/**
 * One request that passes through Envoy: tells it what the {@link
 * dev.kvasir.router.flow.RequestFlow} decides, and reports to the flow what becomes of the answer.
 *
 * <pre>
 *   HEAD --headers--> BODY --all of it, and the flow accepts--> READING --submit--> PLACING
 *     |                 |                                          |                  |
 *     |  limits, keys   | too large                     unreadable |         refused  | send
 *     '-----------------'----------> ANSWERED AT ONCE <------------'------------------|
 *                                                                                     v
 *        over <--end of the stream-- ANSWERING <--------headers of the answer------ PLACED
 * </pre>
 *
 * <p>It belongs to the loop of its connection; its {@link FlowConnection} reports to the flow, on
 * the loop of the router. What Envoy was told cannot be taken back: a worker that fails is Envoy's
 * to try again, and the flow learns of it at the end.
 */
final class PickedRequest implements FlowConnection.Listener, GrpcStream.Listener {
  private static final System.Logger LOG = System.getLogger(PickedRequest.class.getName());

  private enum State {
    HEAD,
    BODY,
    READING,
    PLACING,
    PLACED,
    ANSWERING,
    OVER
  }

  private final Picker.Parts picker;
  private final GatewayParts parts;
  private final GrpcStream stream;
  private final long number;
  private final PickedBody body;

  private State state = State.HEAD;
  private @Nullable FlowConnection connection;
  private @Nullable RequestHead head;
  private @Nullable List<String> subset;
  private BodyMode requestMode = BodyMode.FULL_DUPLEX;
  private BodyMode responseMode = BodyMode.FULL_DUPLEX;
  private final long begunNanos = System.nanoTime();
  private boolean accepted;
  private SessionHint hint = SessionHint.NONE;
  private @Nullable LegBodies bodies;
  private boolean splitted;
  private @Nullable PickedAnswer answer;
  private Result result = Result.LEFT;

  PickedRequest(Picker.Parts picker, GrpcStream stream) {
    this.picker = picker;
    this.parts = picker.gateway();
    this.stream = stream;
    this.number = picker.counts().begin();
    this.body = new PickedBody(picker.settings().listen().limits().bodyBytes());
  }

  @Override
  public void message(Buffer bytes) {
    run(() -> accept(EnvoyMessages.read(bytes)));
  }

  private void accept(EnvoyMessages.Incoming incoming) {
    if (incoming.isObserved()) throw new Malformed("observability_mode is on: turn it off");
    if (incoming.request() != null) requestMode = incoming.request();
    if (incoming.response() != null) responseMode = incoming.response();
    if (state == State.HEAD) subset = incoming.subset();
    if (state == State.OVER) {
      pass(incoming.message());
      return;
    }
    switch (incoming.message()) {
      case Headers message when message.side() == Side.REQUEST -> begin(message);
      case Headers message -> answered(message);
      case Body message when message.side() == Side.REQUEST -> add(message);
      case Body message -> answered(message);
      case Trailers message when message.side() == Side.REQUEST -> {
        require(State.BODY);
        bodyComplete(BodyEnd.TRAILERS);
      }
      case Trailers message -> {
        require(State.ANSWERING);
        stream.send(EnvoyMessages.unchanged(message, responseMode));
        end();
      }
    }
  }

  private void require(State expected) {
    if (state != expected) throw new Malformed("a message that comes in state " + state);
  }

  private void begin(Headers headers) {
    require(State.HEAD);
    var checked = new RequestHead(headers, picker);
    head = checked;
    var caller = checked.caller();
    var holder = caller.tenant().isEmpty() ? "envoy" : "tenant " + caller.tenant();
    body.use(picker.bodies().share(holder));
    var path = checked.path();
    if (!headers.isLast()) checked.requireReadable(requestMode);
    var details = RequestDetails.of(checked.id(number), path, caller, parts.loop().nanos());
    var opened = new FlowConnection(parts, details, this);
    connection = opened;
    state = State.BODY;
    if (headers.isLast()) body.complete(BodyEnd.PIECE);
    // In this mode the body comes once the headers are answered; they can be changed even then.
    else if (requestMode == BodyMode.BUFFERED) stream.send(EnvoyMessages.headers(Side.REQUEST));
    opened.arrive();
  }

  private void add(Body piece) {
    require(State.BODY);
    body.add(piece.bytes());
    if (piece.isLast() || requestMode == BodyMode.BUFFERED) bodyComplete(BodyEnd.PIECE);
  }

  private void bodyComplete(BodyEnd end) {
    body.complete(end);
    read();
  }

  @Override
  public Context context() {
    return stream.context();
  }

  @Override
  public void accepted() {
    accepted = true;
    read();
  }

  private void read() {
    if (!accepted || !body.isComplete() || state != State.BODY) return;
    if (connection().details().path().isEmpty()) {
      // It has no prompt, and goes wherever there is room.
      var route = RouteRequest.of("", 1, List.of());
      submit(new Submission("", route, false, true, Submission.NO_NEEDS, 0));
    } else {
      state = State.READING;
      var headers = Objects.requireNonNull(head);
      connection()
          .read(new RequestReader.Message(context(), headers::get, body.bytes(), body.share()));
    }
  }

  @Override
  public void read(RequestReader.Read read) {
    if (state != State.READING) return;
    hint = read.hint();
    bodies = read.bodies();
    submit(read.submission());
  }

  private void submit(Submission submission) {
    state = State.PLACING;
    var among = subset;
    connection().submit(() -> picker.addresses().limit(submission, parts.workers(), among));
  }

  /** Tells Envoy where to send the request; further legs are for the proxy beside the worker. */
  @Override
  public void send(Step.Send legs, Placed where) {
    if (state != State.PLACING) return;
    state = State.PLACED;
    result = Result.PLACED;
    splitted = RequestHead.isSplit(legs);
    var begun = Objects.requireNonNull(head);
    var change = begun.change(legs, where, hint);
    var read = bodies;
    var other = read == null ? body.bytes() : read.whole();
    boolean isChanged = !other.equals(body.bytes());
    if (isChanged) change.set("content-length", Integer.toString(other.length()));
    if (begun.isLast()) {
      stream.send(EnvoyMessages.headers(change));
    } else if (requestMode == BodyMode.BUFFERED) {
      stream.send(EnvoyMessages.body(change, isChanged ? other : null));
    } else {
      stream.send(EnvoyMessages.headers(change));
      var end = body.hasTrailers() ? BodyEnd.TRAILERS : BodyEnd.PIECE;
      for (var piece : EnvoyMessages.pieces(other, end)) stream.send(piece);
    }
    bodies = null;
    body.release();
    if (body.hasTrailers()) stream.send(EnvoyMessages.trailers(Side.REQUEST));
  }

  /** The legs are Envoy's. */
  @Override
  public void stop() {}

  @Override
  public void refuse(ApiError error) {
    if (state == State.OVER) return;
    result = Result.REFUSED;
    var begun = connection;
    if (begun != null && !begun.isConcluded()) begun.refused(error);
    stream.send(EnvoyMessages.immediate(error));
    stream.end(GrpcStream.OK, "");
  }

  @Override
  public void guard(Runnable work) {
    if (state != State.OVER) run(work);
  }

  private void run(Runnable work) {
    try {
      work.run();
    } catch (Refused refused) {
      refuse(refused.error());
    } catch (Malformed e) {
      result = Result.MALFORMED;
      throw e;
    } catch (RuntimeException bug) {
      LOG.log(ERROR, "picking an endpoint failed", bug);
      refuse(ApiError.internal());
    }
  }

  private void answered(Headers message) {
    boolean isPlaced = state == State.PLACED || state == State.ANSWERING;
    if (!isPlaced) {
      // Envoy itself has answered, as where a path or a body is not to its liking.
      finish();
      pass(message);
      return;
    }
    require(State.PLACED);
    state = State.ANSWERING;
    var begun = new PickedAnswer(connection(), message, responseMode);
    answer = begun;
    if (splitted && begun.isOk()) connection().prefilled();
    stream.send(EnvoyMessages.headers(Side.RESPONSE));
    begun.begin();
    if (message.isLast()) end();
  }

  /** The answer is not the worker's, or is known to its end. */
  private void pass(EnvoyMessages.EnvoyMessage message) {
    if (message.side() == Side.REQUEST) throw new Malformed("a request after its answer");
    stream.send(EnvoyMessages.unchanged(message, responseMode));
  }

  private void answered(Body piece) {
    require(State.ANSWERING);
    Objects.requireNonNull(answer).feed(piece.bytes());
    stream.send(EnvoyMessages.unchanged(piece, responseMode));
    if (piece.isLast()) end();
  }

  /** The answer has come to its end; the stream is no longer needed. */
  private void end() {
    if (connection().isConcluded()) return;
    Objects.requireNonNull(answer).ended();
    finish();
  }

  @Override
  public int messageBytesMax() {
    if (state == State.HEAD) return GrpcStream.HEADS_BYTES;
    long most = (long) picker.settings().listen().limits().bodyBytes() + GrpcStream.HEADS_BYTES;
    return (int) Math.min(Integer.MAX_VALUE, most);
  }

  /** Refuses a body that does not come to its end. */
  @Override
  public void look(long nowNanos) {
    var time = picker.settings().listen().limits().bodyTime();
    if (state != State.BODY || body.isComplete() || nowNanos - begunNanos <= time.toNanos()) return;
    refuse(
        ApiError.of(
            408, "invalid_request_error", "body_too_slow", "the body did not come in " + time));
  }

  /** Envoy ends the stream when it has told all, or its caller has left. */
  @Override
  public void finished() {
    stream.end(GrpcStream.OK, "");
  }

  @Override
  public void over() {
    finish();
    picker.counts().end(result);
  }

  private void finish() {
    if (state == State.OVER) return;
    var flowing = connection;
    var last = answer;
    if (flowing != null && last != null && !flowing.isConcluded()) last.left();
    state = State.OVER;
    body.release();
    if (flowing != null) flowing.over();
  }

  private FlowConnection connection() {
    return Objects.requireNonNull(connection);
  }
}
