package dev.kvasir.embedded.api;

import dev.kvasir.embedded.api.Call.Handover;
import dev.kvasir.embedded.api.Call.Stream;
import dev.kvasir.model.sample.SamplingSettings;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Json;
import dev.kvasir.net.Refused;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Reads requests as clients of the OpenAI interface send them, with the fields that vLLM adds.
 *
 * <p>What is not known is ignored, as everywhere; what is known and cannot be had is refused.
 *
 * @param temperature what counts where a request says nothing
 */
public record CallReader(double temperature) {
  public static final String CHAT = "/v1/chat/completions";
  public static final String TEXT = "/v1/completions";

  private static final int TOKENS_MAX = 1 << 20;
  private static final int TEXT_TOKENS_USUAL = 16;
  private static final int LOGPROBS_MAX = 20;

  public Call chat(byte[] body) {
    var fields = new Fields(Json.read(body));
    fields.forbid("tools", "this model cannot call tools: send the request without");
    fields.forbid("functions", "this model cannot call functions: send the request without");
    int most = fields.number("max_tokens", 0, 1, TOKENS_MAX);
    int logprobs = Call.NO_LOGPROBS;
    if (fields.flag("logprobs")) logprobs = fields.number("top_logprobs", 0, 0, LOGPROBS_MAX);
    return call(
        fields,
        new Prompt.Chat(Messages.read(fields)),
        fields.number("max_completion_tokens", most, 1, TOKENS_MAX),
        logprobs);
  }

  public Call text(byte[] body) {
    var fields = new Fields(Json.read(body));
    fields.forbid("echo", "the prompt is not sent back: leave echo out");
    fields.forbid("suffix", "this model cannot fill in: leave suffix out");
    return call(
        fields,
        Messages.prompt(fields),
        fields.number("max_tokens", TEXT_TOKENS_USUAL, 1, TOKENS_MAX),
        fields.number("logprobs", Call.NO_LOGPROBS, 0, LOGPROBS_MAX));
  }

  /** Returns what the model is to go on from, in a request that was sent to this path. */
  public static Prompt prompt(String path, byte[] body) {
    var fields = new Fields(Json.read(body));
    return path.equals(CHAT) ? new Prompt.Chat(Messages.read(fields)) : Messages.prompt(fields);
  }

  /** Returns what a request to turn text into tokens says: messages or a prompt. */
  public static Prompt tokenized(byte[] body) {
    var fields = new Fields(Json.read(body));
    if (fields.node("messages") != null) return new Prompt.Chat(Messages.read(fields));
    return Messages.prompt(fields);
  }

  /** The tokens that a request wants to have as text. */
  public static List<Integer> tokens(byte[] body) {
    var node = new Fields(Json.read(body)).node("tokens");
    if (node == null || !node.isArray()) {
      throw new Refused(ApiError.badField("tokens", "tokens must be an array of numbers"));
    }
    return Messages.tokens(node);
  }

  private Call call(Fields fields, Prompt prompt, int tokensMax, int logprobs) {
    requireOne(fields, "n");
    requireOne(fields, "best_of");
    fields.forbid("logit_bias", "tokens cannot be biased here: leave logit_bias out");
    requireText(fields);
    boolean ignoresEnd = fields.flag("ignore_eos");
    return new Call(
        fields.text("model", ""),
        prompt,
        tokensMax,
        fields.number("min_tokens", 0, 0, tokensMax == 0 ? TOKENS_MAX : tokensMax),
        ignoresEnd,
        sampling(fields, logprobs),
        logprobs,
        fields.texts("stop"),
        stream(fields),
        fields.text("cache_salt", ""),
        fields.number("priority", 0, Integer.MIN_VALUE, Integer.MAX_VALUE),
        handover(fields));
  }

  private SamplingSettings sampling(Fields fields, int logprobs) {
    try {
      return new SamplingSettings(
          fields.decimal("temperature", temperature),
          Math.max(0, fields.number("top_k", 0, -1, Integer.MAX_VALUE)),
          fields.decimal("top_p", 1),
          fields.decimal("min_p", 0),
          fields.decimal("repetition_penalty", 1),
          fields.decimal("presence_penalty", 0),
          fields.decimal("frequency_penalty", 0),
          fields.longNumber("seed", ThreadLocalRandom.current().nextLong()),
          logprobs == Call.NO_LOGPROBS ? 0 : Math.max(1, logprobs));
    } catch (IllegalArgumentException e) {
      throw new Refused(ApiError.badRequest(String.valueOf(e.getMessage())));
    }
  }

  private static Stream stream(Fields fields) {
    if (!fields.flag("stream")) return Stream.NONE;
    var options = fields.node("stream_options");
    if (options == null) return Stream.PIECES;
    return new Fields(options).flag("include_usage") ? Stream.PIECES_AND_USAGE : Stream.PIECES;
  }

  private static Handover handover(Fields fields) {
    var node = fields.node("kv_transfer_params");
    if (node == null) return Handover.NONE;
    var parameters = new Fields(node);
    if (parameters.flag("do_remote_decode")) return Handover.GIVE;
    return parameters.flag("do_remote_prefill") ? Handover.TAKE : Handover.NONE;
  }

  private static void requireOne(Fields fields, String name) {
    if (fields.number(name, 1, 1, TOKENS_MAX) == 1) return;
    throw new Refused(
        ApiError.badField(name, "one answer for each request: send it several times"));
  }

  private static void requireText(Fields fields) {
    var format = fields.node("response_format");
    if (format == null) return;
    var type = new Fields(format).text("type", "text");
    if (type.equals("text")) return;
    throw new Refused(ApiError.badField("response_format", "answers are text here, not " + type));
  }
}
