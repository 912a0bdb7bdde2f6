package dev.kvasir.embedded;

import dev.kvasir.Nullable;
import dev.kvasir.embedded.api.AnswerFormat;
import dev.kvasir.embedded.api.AnswerFormat.Finish;
import dev.kvasir.embedded.api.Call;
import dev.kvasir.embedded.api.Logprobs;
import dev.kvasir.embedded.step.GenerationEnd;
import dev.kvasir.embedded.step.GenerationUsage;
import dev.kvasir.embedded.step.Piece;
import dev.kvasir.model.sample.TokenChoice;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.openai.Usage;
import dev.kvasir.net.server.EventStream;
import dev.kvasir.net.server.Reply;
import java.time.Duration;
import java.util.ArrayList;
import tools.jackson.databind.JsonNode;

/** Sends one answer to its caller, whole or piece by piece; belongs to the caller's connection. */
final class Answering {
  private final Reply reply;
  private final Call call;
  private final AnswerFormat format;
  private final ServedModel model;
  private final StringBuilder text = new StringBuilder();
  private final Logprobs logprobs = new Logprobs();
  private final FaultInjection.Fault fault;
  private @Nullable EventStream stream;
  private int pieces;
  private boolean spoilt;

  Answering(
      Reply reply, Call call, AnswerFormat format, ServedModel model, FaultInjection.Fault fault) {
    this.reply = reply;
    this.call = call;
    this.format = format;
    this.model = model;
    this.fault = fault;
  }

  void grown(Piece piece) {
    if (isSpoilt()) return;
    pieces++;
    boolean isSilent = piece.text().isEmpty() && call.logprobs() == Call.NO_LOGPROBS;
    if (call.stream() == Call.Stream.NONE) {
      note(logprobs, piece);
    } else if (!isSilent) {
      var own = new Logprobs();
      note(own, piece);
      stream().send(format.piece(piece.text(), logprobs(own, text.length())));
    }
    text.append(piece.text());
  }

  /** Returns whether an injected fault has ended the answer. */
  private boolean isSpoilt() {
    if (spoilt) return true;
    if (fault.kind() == FaultInjection.Kind.NOTHING || pieces < fault.afterPieces()) return false;
    spoilt = true;
    var error = ApiError.of(500, "server_error", "on_purpose", "this answer fails on purpose");
    switch (fault.kind()) {
      case NOTHING, STALL -> {}
      case RESET -> reply.reset();
      case TRUNCATE -> reply.truncate();
      case ERROR -> stream().fail(error);
      case REFUSE -> reply.fail(error);
    }
    return true;
  }

  private void note(Logprobs into, Piece piece) {
    if (call.logprobs() == Call.NO_LOGPROBS) return;
    var likeliest = new ArrayList<Logprobs.Likely>();
    for (var other : piece.choice().alternatives()) {
      if (likeliest.size() < call.logprobs()) {
        likeliest.add(likely(other.token(), other.logprob()));
      }
    }
    TokenChoice choice = piece.choice();
    into.add(new Logprobs.Chosen(likely(choice.token(), choice.logprob()), likeliest));
  }

  private Logprobs.Likely likely(int token, double logprob) {
    return new Logprobs.Likely(model.tokenizer().bytes(token), logprob);
  }

  private @Nullable JsonNode logprobs(Logprobs of, int offset) {
    if (call.logprobs() == Call.NO_LOGPROBS) return null;
    return call.isChat() ? of.chat() : of.text(offset);
  }

  /** The answer is over, and {@code handover} says where its blocks can be had, if anywhere. */
  void ended(GenerationEnd end, GenerationUsage usage, @Nullable JsonNode handover) {
    if (isSpoilt()) return;
    switch (end) {
      case GenerationEnd.Stopped() -> finish(Finish.STOP, usage, handover);
      case GenerationEnd.Full() -> finish(Finish.LENGTH, usage, handover);
      case GenerationEnd.Aborted() ->
          fail(
              ApiError.unavailable(
                  "aborted",
                  "the server gave the answer up: send it again",
                  Duration.ofSeconds(1)));
      case GenerationEnd.Refused(String reason) -> fail(ApiError.badRequest(reason));
      case GenerationEnd.Failed(String reason) ->
          fail(ApiError.of(500, "server_error", "model_failed", reason));
    }
  }

  void fail(ApiError error) {
    if (stream == null) reply.fail(error);
    else stream.fail(error);
  }

  private void finish(Finish finish, GenerationUsage used, @Nullable JsonNode handover) {
    var usage = new Usage(used.promptTokens(), used.answerTokens(), used.cachedTokens());
    if (call.stream() == Call.Stream.NONE) {
      var whole = format.whole(text.toString(), finish, logprobs(logprobs, 0), usage);
      if (handover != null) whole.set("kv_transfer_params", handover);
      reply.answer(200, whole.toString());
      return;
    }
    var events = stream();
    events.send(format.closing(finish));
    if (call.stream() == Call.Stream.PIECES_AND_USAGE) events.send(format.usage(usage));
    events.done();
  }

  private EventStream stream() {
    var begun = stream;
    if (begun == null) {
      begun = reply.stream();
      stream = begun;
      if (call.isChat()) begun.send(format.opening());
    }
    return begun;
  }
}
