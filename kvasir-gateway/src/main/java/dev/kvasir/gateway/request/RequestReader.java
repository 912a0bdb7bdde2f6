package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.journal.JournalFiles;
import dev.kvasir.gateway.journal.NameKey;
import dev.kvasir.gateway.journal.PromptNames;
import dev.kvasir.gateway.journal.RequestDetails;
import dev.kvasir.gateway.journal.TraceMark;
import dev.kvasir.gateway.request.ApiPath.Work;
import dev.kvasir.gateway.worker.Routing.Priorities;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.Caller;
import dev.kvasir.net.openai.SessionHint;
import dev.kvasir.net.openai.SessionHints;
import dev.kvasir.net.server.BodyShare;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.net.worker.NamedTokens;
import dev.kvasir.router.turn.TurnRules;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.router.worker.Need;
import dev.kvasir.router.worker.Submission;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Reads requests, and refuses what cannot be served before anybody works for it. */
public final class RequestReader {
  static final String SLO_CLASS = "x-kvasir-slo-class";
  private static final int MODEL_CHARS_MAX = 256;
  private static final int ANSWER_TOKENS_MAX = 1 << 24;
  private static final List<String> ANSWER_FIELDS =
      List.of("max_completion_tokens", "max_tokens", "max_output_tokens");

  /**
   * A request that can be placed, and the bodies that workers get of it.
   *
   * @param prompt the tokens of its prompt; null where they are not known
   */
  public record Read(
      RequestDetails details,
      SessionHint hint,
      LegBodies bodies,
      @Nullable NamedTokens prompt,
      Submission submission) {}

  /**
   * Parts of a request that are to be read.
   *
   * @param context context on which the answer is to come
   * @param headers the value of a header by its name in lower case; null where there is none
   * @param share share of the memory for bodies
   */
  public record Message(Context context, Headers headers, Buffer body, BodyShare share) {
    /** The headers of a request. */
    @FunctionalInterface
    public interface Headers {
      @Nullable
      String header(String name);
    }

    static Message of(Exchange exchange) {
      return new Message(exchange.context(), exchange::header, exchange.body(), exchange.share());
    }

    @Nullable
    String header(String name) {
      return headers.header(name);
    }
  }

  private final NameKey secret;
  private final boolean traced;
  private final PromptNaming naming;
  private final SessionHints hints = new SessionHints();
  private final Priorities priorities;
  private volatile TurnRules turns = TurnRules.DEFAULT;

  public RequestReader(
      NameKey secret, JournalFiles files, PromptNaming naming, Priorities priorities) {
    this.secret = secret;
    this.traced = files.traces() != null;
    this.naming = naming;
    this.priorities = priorities;
  }

  /** Has other priorities of classes from now on. */
  public void use(TurnRules others) {
    turns = others;
  }

  /** Contents of a body before its prompt has names. */
  private record Parsed(
      RequestDetails details,
      SessionHint hint,
      LegBodies bodies,
      PromptNaming.Prompt prompt,
      boolean isSplittable,
      boolean isWhole,
      Set<Need> needs,
      int answerTokens) {
    Read named(PromptNaming.Named named) {
      var names = named.names();
      var route =
          new RouteRequest(
              details.session(), names.tokens(), names.blocks(), details.sloClass(), List.of());
      int context = names.tokens() + answerTokens;
      var submission = new Submission(prompt.model(), route, isSplittable, isWhole, needs, context);
      return new Read(details.with(names), hint, bodies, named.tokens(), submission);
    }
  }

  /** Reads a request of which the head is known; answers on the context of the message. */
  public Future<Read> read(Message message, RequestDetails head) {
    var path = ApiPath.of(head.path());
    if (path.work() == Work.AUDIO) return Future.succeededFuture(form(message, head));
    var context = message.context();
    var share = message.share();
    return share
        .work(context, message.body().length(), () -> parsed(message, head, path))
        .compose(parsed -> naming.names(context, parsed.prompt).map(parsed::named))
        .onComplete(_ -> share.isRead());
  }

  private Parsed parsed(Message message, RequestDetails head, ApiPath path) {
    var fields = RequestFields.of(message.body().getBytes(), message.share());
    boolean isStream = fields.isTrue("stream");
    var model = fields.shortText("model", MODEL_CHARS_MAX);
    var tenant = head.caller().tenant();
    var requestedSalt = fields.text("cache_salt");
    var salt = tenant.isEmpty() ? requestedSalt : secret.salt(tenant, requestedSalt);
    var hint = hints.read(message::header, fields::value, tenant);
    var sloClass = sloClass(message, head.caller());
    var details =
        new RequestDetails(
            head.id(),
            head.path(),
            head.caller(),
            model,
            hint.session(),
            sloClass,
            PromptNames.NONE,
            head.receivedNanos(),
            traced ? TraceMark.of(message.header(TraceMark.HEADER)) : null);
    var needs = needs(path, fields);
    return new Parsed(
        details,
        hint,
        bodies(path, fields, tenant.isEmpty() ? "" : salt, sloClass),
        new PromptNaming.Prompt(path, fields, model, salt, needs.contains(Need.MEDIA)),
        isSplittable(path, fields),
        // What is embedded is prefilled to its end.
        !isStream && path.work() != Work.PREFILL,
        needs,
        answerTokens(fields));
  }

  /** Audio comes as a form, of which only a few fields are read; it goes on as it came. */
  private Read form(Message message, RequestDetails head) {
    var type = message.header("content-type");
    var body = message.body();
    var fields = FormFields.of(type, body);
    var model = fields.getOrDefault("model", "");
    if (model.length() > MODEL_CHARS_MAX) {
      throw new Refused(ApiError.badField("model", "\"model\" has more than 256 characters"));
    }
    var names = new PromptNames(MediaParts.TOKENS, List.of());
    var sloClass = sloClass(message, head.caller());
    var details =
        new RequestDetails(
            head.id(),
            head.path(),
            head.caller(),
            model,
            "",
            sloClass,
            names,
            head.receivedNanos(),
            traced ? TraceMark.of(message.header(TraceMark.HEADER)) : null);
    var route = new RouteRequest("", names.tokens(), List.of(), sloClass, List.of());
    boolean isWhole = !fields.getOrDefault("stream", "").equalsIgnoreCase("true");
    var bodies = LegBodies.asItCame(body, String.valueOf(type));
    var submission = new Submission(model, route, false, isWhole, Set.of(Need.SPEECH), 0);
    return new Read(details, SessionHint.NONE, bodies, null, submission);
  }

  /** Returns what was told of sessions, and what could not be read. */
  public SessionHints hints() {
    return hints;
  }

  /** A user's key opens no class above the usual one. */
  private static SloClass sloClass(Message message, Caller caller) {
    var className = message.header(SLO_CLASS);
    if (className == null) return SloClass.STANDARD;
    var requestedSalt = SloClass.of(className);
    if (!requestedSalt.label().equals(className)) {
      var known = Arrays.stream(SloClass.values()).map(SloClass::label).toList();
      throw new Refused(ApiError.badField(SLO_CLASS, "must be one of " + String.join(", ", known)));
    }
    boolean isUser = caller.scope() == ApiKey.Scope.USER;
    return isUser && requestedSalt.priority() > SloClass.STANDARD.priority()
        ? SloClass.STANDARD
        : requestedSalt;
  }

  /** Returns what workers get; on a path where they compute nothing, what the caller sent. */
  private LegBodies bodies(ApiPath path, RequestFields fields, String salt, SloClass sloClass) {
    boolean isCompute = path.work() != Work.NONE;
    return LegBodies.of(fields, isCompute ? salt : "", isCompute ? priority(sloClass) : "");
  }

  /** As vLLM takes it: smaller is more urgent. */
  private String priority(SloClass sloClass) {
    return priorities == Priorities.BY_CLASS ? Integer.toString(turns.rank(sloClass)) : "";
  }

  private static Set<Need> needs(ApiPath path, RequestFields fields) {
    var needs = EnumSet.noneOf(Need.class);
    if (path.work() == Work.PREFILL) needs.add(Need.POOLING);
    if (BlockNamer.hasMedia(path, fields)) needs.add(Need.MEDIA);
    if (path.work() == Work.ANSWER && fields.isFilled("tools")) needs.add(Need.TOOLS);
    return needs;
  }

  /** Returns how many tokens the answer may have; 0 if the request does not say. */
  private static int answerTokens(RequestFields fields) {
    for (var name : ANSWER_FIELDS) {
      var value = fields.value(name);
      if (value != null && value.isInt()) return Math.clamp(value.asInt(), 0, ANSWER_TOKENS_MAX);
    }
    return 0;
  }

  /** One prompt with one answer, of text. */
  private static boolean isSplittable(ApiPath path, RequestFields fields) {
    if (path != ApiPath.CHAT && path != ApiPath.COMPLETIONS) return false;
    var n = fields.value("n");
    if (n != null && n.asInt(0) != 1) return false;
    if (fields.has("best_of") || fields.has("echo") || fields.has("prompt_logprobs")) return false;
    if (path == ApiPath.CHAT) return !mustCallTool(fields);
    return fields.isText("prompt") || fields.isNumbers("prompt");
  }

  /** The one token that a prefill makes is no call of a tool, which vLLM answers with an error. */
  private static boolean mustCallTool(RequestFields fields) {
    var choice = fields.value("tool_choice");
    return choice != null && choice.isString() && choice.asString().equals("required");
  }
}
