package dev.kvasir.live.picker;

import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.Nullable;
import dev.kvasir.live.gateway.journal.Ending;
import dev.kvasir.live.gateway.journal.Outcome;
import dev.kvasir.live.gateway.journal.RequestDetails;
import dev.kvasir.live.gateway.request.AnswerMeter;
import dev.kvasir.live.gateway.request.ApiPath;
import dev.kvasir.live.gateway.request.GatewayParts;
import dev.kvasir.live.gateway.request.LegBodies;
import dev.kvasir.live.gateway.request.ProxiedRequest;
import dev.kvasir.live.gateway.request.RequestHeaders;
import dev.kvasir.live.gateway.request.RequestReader;
import dev.kvasir.live.http.Access;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.live.http.Caller;
import dev.kvasir.live.http.Refused;
import dev.kvasir.live.openai.SessionHint;
import dev.kvasir.live.openai.Usage;
import dev.kvasir.live.picker.EnvoyMessages.Body;
import dev.kvasir.live.picker.EnvoyMessages.BodyMode;
import dev.kvasir.live.picker.EnvoyMessages.Change;
import dev.kvasir.live.picker.EnvoyMessages.Headers;
import dev.kvasir.live.picker.EnvoyMessages.Side;
import dev.kvasir.live.picker.EnvoyMessages.Trailers;
import dev.kvasir.live.picker.Picker.Result;
import dev.kvasir.live.picker.Proto.Malformed;
import dev.kvasir.router.flow.FlowCaller;
import dev.kvasir.router.flow.FlowRequest;
import dev.kvasir.router.flow.Refusal;
import dev.kvasir.router.flow.RequestDriver;
import dev.kvasir.router.flow.RequestEnd;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import dev.kvasir.router.flow.Submission;
import dev.kvasir.router.view.RouteRequest;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * One request that passes through Envoy: tells it what the {@link
 * dev.kvasir.router.flow.RequestFlow} decides, and the flow what becomes of the answer.
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
 * <p>It belongs to the loop of its connection; orders of the flow come on that of the router and
 * are handed over. What Envoy was told cannot be taken back: a worker that fails is Envoy's to try
 * again, and the flow hears of it at the end.
 */
final class PickedRequest implements RequestDriver, GrpcStream.Listener {
  private static final System.Logger LOG = System.getLogger(PickedRequest.class.getName());
  private static final Duration SOON = Duration.ofSeconds(1);
  private static final int EMITTED_AT_ONCE = 32;

  /** Envoy takes pieces of a body of less than 64 KiB. */
  private static final int PIECE_BYTES = 60 << 10;

  private enum State {
    HEAD,
    BODY,
    READING,
    PLACING,
    PLACED,
    ANSWERING,
    OVER
  }

  /**
   * Where the request is to go, by address and port.
   *
   * @param prefill empty where it is prefilled where it is decoded
   * @param rank of the engine behind the address; below zero where there is but one
   */
  private record Destination(String decode, String prefill, int rank) {}

  private final Picker.Parts picker;
  private final GatewayParts parts;
  private final GrpcStream stream;
  private final long number;

  // On the loop of the connection.

  private State state = State.HEAD;
  private @Nullable FlowRequest request;
  private @Nullable RequestDetails details;
  private @Nullable Headers head;
  private @Nullable List<String> subset;
  private BodyMode requestMode = BodyMode.FULL_DUPLEX;
  private BodyMode responseMode = BodyMode.FULL_DUPLEX;
  private Buffer body = Buffer.buffer();
  private String holder = "";
  private long booked;
  private boolean accepted;
  private boolean complete;
  private boolean trailersAwaited;
  private SessionHint hint = SessionHint.NONE;
  private @Nullable LegBodies bodies;
  private boolean whole;
  private boolean splitted;
  private @Nullable AnswerMeter meter;
  private @Nullable Ending ending;
  private Verdict verdict = Verdict.NONE;
  private Result result = Result.LEFT;
  private boolean tokens;
  private int emitted;

  // On the loop of the router.

  private boolean isWrittenDown;
  private @Nullable Runnable writeDown;

  PickedRequest(Picker.Parts picker, GrpcStream stream) {
    this.picker = picker;
    this.parts = picker.gateway();
    this.stream = stream;
    this.number = picker.counts().begin();
  }

  @Override
  public void message(Buffer bytes) {
    try {
      hear(EnvoyMessages.read(bytes));
    } catch (Refused refused) {
      answerAtOnce(refused.error());
    } catch (Malformed e) {
      result = Result.MALFORMED;
      throw e;
    } catch (RuntimeException bug) {
      LOG.log(ERROR, "picking an endpoint failed", bug);
      answerAtOnce(ApiError.internal());
    }
  }

  private void hear(EnvoyMessages.Incoming incoming) {
    if (incoming.isObserved()) throw new Malformed("observability_mode is on: turn it off");
    if (incoming.request() != null) requestMode = incoming.request();
    if (incoming.response() != null) responseMode = incoming.response();
    if (state == State.HEAD) subset = incoming.subset();
    if (state == State.OVER) {
      pass(incoming.told());
      return;
    }
    switch (incoming.told()) {
      case Headers told when told.side() == Side.REQUEST -> begin(told);
      case Headers told -> answered(told);
      case Body told when told.side() == Side.REQUEST -> take(told);
      case Body told -> answered(told);
      case Trailers told when told.side() == Side.REQUEST -> {
        require(State.BODY);
        trailersAwaited = true;
        bodyComplete();
      }
      case Trailers told -> {
        require(State.ANSWERING);
        stream.send(EnvoyMessages.trailers(told.side()));
        end();
      }
    }
  }

  private void require(State expected) {
    if (state != expected) throw new Malformed("a message that comes in state " + state);
  }

  private void begin(Headers headers) {
    require(State.HEAD);
    head = headers;
    var limits = picker.settings().listen().limits();
    if (headers.all().size() > limits.headersMax()) {
      throw new Refused(
          ApiError.of(431, "invalid_request_error", "too_many_headers", "send fewer headers"));
    }
    var caller = picker.keys().get().admit(Access.KEY, headers.get("authorization"));
    holder = caller.tenant().isEmpty() ? "envoy" : "tenant " + caller.tenant();
    if (!headers.isLast()) requireReadable(headers);
    details = RequestDetails.of(id(headers), path(headers), caller, parts.loop().nanos());
    var flowing = new FlowRequest(flowCaller(caller), this);
    request = flowing;
    state = State.BODY;
    onLoop(() -> parts.flow().arrive(flowing));
    if (headers.isLast()) bodyComplete();
    // In this mode the body comes once the headers are answered; they can be changed even then.
    else if (requestMode == BodyMode.BUFFERED) stream.send(EnvoyMessages.headers(Side.REQUEST));
  }

  /** Refuses before its first byte what would not be read to its end. */
  private void requireReadable(Headers headers) {
    if (requestMode != BodyMode.BUFFERED && requestMode != BodyMode.FULL_DUPLEX) {
      LOG.log(
          ERROR,
          "Envoy sends bodies of requests in mode {0}: set request_body_mode to"
              + " FULL_DUPLEX_STREAMED or BUFFERED",
          requestMode);
      throw new Refused(ApiError.internal());
    }
    var length = headers.get("content-length");
    int bytesMax = picker.settings().listen().limits().bodyBytesMax();
    if (length != null && (length.length() > 18 || !length.matches("\\d+"))) {
      throw new Refused(ApiError.badRequest("content-length is no number"));
    }
    if (length != null && Long.parseLong(length) > bytesMax) {
      throw new Refused(ApiError.tooLarge(bytesMax));
    }
  }

  private static FlowCaller flowCaller(Caller caller) {
    return new FlowCaller(caller.tenant(), caller.key(), caller.limits());
  }

  private String id(Headers headers) {
    var given = RequestHeaders.usable(headers.get("x-request-id"));
    return given == null ? "picked-" + number : given + "-" + number;
  }

  /** What the gateway would read; empty for everything else. */
  private static String path(Headers headers) {
    var asked = headers.get(":path");
    if (asked == null || !"POST".equals(headers.get(":method"))) return "";
    int query = asked.indexOf('?');
    var path = query < 0 ? asked : asked.substring(0, query);
    for (var known : ApiPath.values()) if (known.path().equals(path)) return path;
    return "";
  }

  private void take(Body piece) {
    require(State.BODY);
    if (complete) throw new Malformed("a body that goes on after its end");
    int bytesMax = picker.settings().listen().limits().bodyBytesMax();
    int bytes = piece.bytes().length();
    if (body.length() + (long) bytes > bytesMax) throw new Refused(ApiError.tooLarge(bytesMax));
    booked +=
        switch (picker.bodies().take(holder, bytes)) {
          case YES -> bytes;
          case ALL_IN_USE ->
              throw new Refused(
                  ApiError.unavailable(
                      "no_memory", "server is out of request memory; retry", SOON));
          case SHARE_IN_USE ->
              throw new Refused(
                  ApiError.tooMany(
                      "too_many_bytes",
                      "too many bytes of this caller are in flight; retry",
                      SOON));
        };
    body = body.appendBuffer(piece.bytes());
    if (piece.isLast() || requestMode == BodyMode.BUFFERED) bodyComplete();
  }

  private void bodyComplete() {
    complete = true;
    read();
  }

  @Override
  public void accept() {
    stream
        .context()
        .runOnContext(
            _ -> {
              accepted = true;
              guard(this::read);
            });
  }

  private void read() {
    if (!accepted || !complete || state != State.BODY) return;
    state = State.READING;
    var known = Objects.requireNonNull(details);
    if (known.path().isEmpty()) {
      // It has no prompt, and goes wherever there is room.
      var route = RouteRequest.of("", 1, List.of());
      state = State.PLACING;
      submit(new Submission("", route, false, true, Submission.NO_NEEDS, 0));
      return;
    }
    var headers = Objects.requireNonNull(head);
    var message = new RequestReader.Message(stream.context(), headers::get, body);
    parts
        .reader()
        .read(message, known)
        .onComplete(
            read -> guard(() -> submit(read)),
            bug ->
                guard(
                    () -> {
                      throw bug instanceof Refused refused
                          ? refused
                          : new IllegalStateException("the prompt has no names", bug);
                    }));
  }

  private void submit(RequestReader.Read read) {
    if (state != State.READING) return;
    state = State.PLACING;
    details = read.details();
    hint = read.hint();
    bodies = read.bodies();
    whole = read.submission().isWhole();
    submit(read.submission());
  }

  private void submit(Submission submission) {
    var flowing = Objects.requireNonNull(request);
    boolean isPrompt = bodies != null;
    var among = subset;
    onLoop(
        () -> {
          isWrittenDown = isPrompt;
          parts.flow().submit(flowing, among == null ? submission : within(submission, among));
        });
  }

  /** Not to be sent to any other worker than these. */
  private Submission within(Submission submission, List<String> among) {
    var route = submission.route();
    for (var entry : parts.workers().entries()) {
      var address = picker.addresses().of(entry.worker().config());
      if (!among.contains(address)) route = route.avoiding(entry.id());
    }
    return new Submission(
        submission.model(),
        route,
        submission.isSplittable(),
        submission.isWhole(),
        submission.needs(),
        submission.contextTokens());
  }

  /** What comes after the first leg is for whoever sends the legs: the proxy beside the worker. */
  @Override
  public void send(Leg leg) {
    var flowing = Objects.requireNonNull(request);
    var route = Objects.requireNonNull(flowing.route()).written();
    boolean isSplit = leg == Leg.PREFILL;
    int rank = parts.workers().entry(route.decode()).worker().config().rank();
    var prefill = isSplit ? address(route.prefill()) : "";
    var to = new Destination(address(route.decode()), prefill, rank);
    stream.context().runOnContext(_ -> guard(() -> place(to)));
  }

  private String address(int worker) {
    return picker.addresses().of(parts.workers().entry(worker).worker().config());
  }

  private void place(Destination to) {
    if (state != State.PLACING) return;
    state = State.PLACED;
    result = Result.PLACED;
    splitted = !to.prefill.isEmpty();
    var change = change(to);
    var read = bodies;
    var other = read == null ? body : read.whole();
    boolean isChanged = !other.equals(body);
    if (isChanged) change.set("content-length", Integer.toString(other.length()));
    if (Objects.requireNonNull(head).isLast()) {
      stream.send(EnvoyMessages.headers(change));
    } else if (requestMode == BodyMode.BUFFERED) {
      stream.send(EnvoyMessages.body(change, isChanged ? other : null));
    } else {
      stream.send(EnvoyMessages.headers(change));
      sendPieces(other);
    }
    giveBack();
    bodies = null;
    if (trailersAwaited) stream.send(EnvoyMessages.trailers(Side.REQUEST));
  }

  private void sendPieces(Buffer all) {
    int at = 0;
    do {
      int to = Math.min(all.length(), at + PIECE_BYTES);
      boolean isLast = to == all.length() && !trailersAwaited;
      stream.send(EnvoyMessages.piece(new Body(Side.REQUEST, all.getBuffer(at, to), isLast)));
      at = to;
    } while (at < all.length());
  }

  /** A caller does not get to say who prefills, nor does its key here reach a worker. */
  private Change change(Destination to) {
    var change = new Change().to(to.decode);
    var header = picker.settings().prefillHeader();
    if (splitted) change.set(header, to.prefill);
    else change.remove(header);
    if (to.rank >= 0) change.set("x-data-parallel-rank", Integer.toString(to.rank));
    var authorization = parts.upstream().authorization();
    if (!authorization.isEmpty()) change.set("authorization", authorization);
    else if (!picker.keys().get().all().isEmpty()) change.remove("authorization");
    if (!hint.session().isEmpty()) change.set(SessionHint.SESSION, hint.session());
    if (!hint.lastTurn().isEmpty()) change.set(SessionHint.LAST_TURN, hint.lastTurn());
    if (hint.pinSeconds() > 0) change.set(SessionHint.PIN, Integer.toString(hint.pinSeconds()));
    return change;
  }

  @Override
  public void cancel() {}

  @Override
  public void refuse(Refusal refusal) {
    isWrittenDown = true;
    var error = ProxiedRequest.error(refusal);
    stream.context().runOnContext(_ -> answerAtOnce(error));
  }

  private void answerAtOnce(ApiError error) {
    if (state == State.OVER) return;
    result = Result.REFUSED;
    if (ending == null) {
      ending = new Ending(Outcome.REFUSED, error.status(), error.code(), Usage.UNKNOWN, 0);
    }
    stream.send(EnvoyMessages.immediate(error));
    stream.end(GrpcStream.OK, "");
  }

  private void guard(Runnable work) {
    if (state == State.OVER) return;
    try {
      work.run();
    } catch (Refused refused) {
      answerAtOnce(refused.error());
    } catch (RuntimeException bug) {
      LOG.log(ERROR, "picking an endpoint failed", bug);
      answerAtOnce(ApiError.internal());
    }
  }

  private void answered(Headers told) {
    if (state == State.BODY || state == State.READING || state == State.PLACING) {
      // Envoy itself has answered, as where a body is too large for it.
      finish();
      pass(told);
      return;
    }
    require(State.PLACED);
    state = State.ANSWERING;
    var status = told.get(":status");
    int code = status != null && status.matches("\\d{3}") ? Integer.parseInt(status) : 0;
    var counting = new AnswerMeter(code, told.get("content-type"));
    meter = counting;
    var flowing = Objects.requireNonNull(request);
    if (splitted && code == 200) onLoop(() -> parts.flow().prefilled(flowing));
    stream.send(EnvoyMessages.headers(Side.RESPONSE));
    // Nobody tells of what comes next.
    if (responseMode == BodyMode.NONE && !whole && code == 200) firstToken();
    if (told.isLast()) end();
  }

  /** The answer is not the worker's, or is known to its end. */
  private void pass(EnvoyMessages.Told told) {
    if (told.side() == Side.REQUEST) throw new Malformed("a request after its answer");
    switch (told) {
      case Headers _ -> stream.send(EnvoyMessages.headers(Side.RESPONSE));
      case Body piece -> echo(piece);
      case Trailers _ -> stream.send(EnvoyMessages.trailers(Side.RESPONSE));
    }
  }

  private void echo(Body piece) {
    boolean isBody = responseMode == BodyMode.FULL_DUPLEX;
    stream.send(isBody ? EnvoyMessages.piece(piece) : EnvoyMessages.body(Side.RESPONSE));
  }

  private void answered(Body piece) {
    require(State.ANSWERING);
    var counting = Objects.requireNonNull(meter);
    emitted(counting.feed(piece.bytes()));
    echo(piece);
    if (piece.isLast()) end();
  }

  private void emitted(int events) {
    if (events == 0) return;
    if (!tokens) firstToken();
    emitted += events;
    if (emitted >= EMITTED_AT_ONCE) tellEmitted();
  }

  private void firstToken() {
    tokens = true;
    var flowing = Objects.requireNonNull(request);
    onLoop(() -> parts.flow().firstToken(flowing));
  }

  private void tellEmitted() {
    int count = emitted;
    emitted = 0;
    var flowing = Objects.requireNonNull(request);
    if (count > 0) onLoop(() -> parts.flow().emitted(flowing, count));
  }

  /** The answer has come to its end; the stream is no longer needed. */
  private void end() {
    if (ending != null) return;
    var counting = Objects.requireNonNull(meter);
    tellEmitted();
    var how = counting.ended();
    if (whole && !tokens && how.usage().outputTokens() == 1) firstToken();
    ending = how;
    verdict = counting.verdict(how);
    finish();
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
    var counting = meter;
    if (ending == null && counting != null) {
      boolean isUntold = responseMode == BodyMode.NONE;
      ending = isUntold ? counting.ended() : counting.left();
      verdict = counting.verdict(ending);
    }
    state = State.OVER;
    giveBack();
    var flowing = request;
    if (flowing == null) return;
    var how = ending == null ? new Ending(Outcome.GONE, 0, "", Usage.UNKNOWN, 0) : ending;
    var usage = how.usage();
    var end =
        new RequestEnd(verdict, usage.promptTokens(), usage.cachedTokens(), how.outputTokens());
    var last = Objects.requireNonNull(details);
    onLoop(
        () -> {
          writeDown = () -> parts.writeDown(flowing, last, how);
          parts.flow().over(flowing, end);
        });
  }

  private void giveBack() {
    picker.bodies().give(holder, booked);
    booked = 0;
    body = Buffer.buffer();
  }

  @Override
  public void closed() {
    if (isWrittenDown && writeDown != null) writeDown.run();
  }

  private void onLoop(Runnable step) {
    parts.loop().executeHere(step);
  }
}
