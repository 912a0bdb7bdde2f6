package dev.kvasir.live.gateway.request;

import dev.kvasir.Nullable;
import java.util.List;

/** What callers can ask workers for, and what a gateway must know of each. */
public enum ApiPath {
  CHAT("/v1/chat/completions", Work.ANSWER, "messages"),
  COMPLETIONS("/v1/completions", Work.ANSWER, "prompt"),
  RESPONSES("/v1/responses", Work.ANSWER, "instructions", "input"),
  MESSAGES("/v1/messages", Work.ANSWER, "system", "messages"),
  EMBEDDINGS("/v1/embeddings", Work.PREFILL, "input", "messages"),
  EMBED("/v2/embed", Work.PREFILL, "texts", "inputs", "images"),
  POOLING("/pooling", Work.PREFILL, "input", "messages", "data"),
  CLASSIFY("/classify", Work.PREFILL, "input", "messages"),
  SCORE("/score", Work.PREFILL, "queries", "text_1", "data_1", "documents", "text_2", "data_2"),
  SCORE_V1("/v1/score", SCORE),
  RERANK("/rerank", Work.PREFILL, "query", "documents"),
  RERANK_V1("/v1/rerank", RERANK),
  RERANK_V2("/v2/rerank", RERANK),
  TRANSCRIPTIONS("/v1/audio/transcriptions", Work.AUDIO),
  TRANSLATIONS("/v1/audio/translations", Work.AUDIO),
  COUNT_TOKENS("/v1/messages/count_tokens", Work.NONE),
  TOKENIZE("/tokenize", Work.NONE),
  DETOKENIZE("/detokenize", Work.NONE);

  /** What a request makes the engine of a worker do. */
  public enum Work {
    /** It prefills a prompt and decodes an answer. */
    ANSWER,
    /** It prefills a prompt, which is all. */
    PREFILL,
    /** It prefills audio, which comes as a form, and decodes a text. */
    AUDIO,
    /** Nothing: the server of the worker answers by itself. */
    NONE
  }

  private final String path;
  private final Work work;

  @SuppressWarnings("ImmutableEnumChecker") // The list is a copy.
  private final List<String> promptFields;

  ApiPath(String path, Work work, String... promptFields) {
    this.path = path;
    this.work = work;
    this.promptFields = List.of(promptFields);
  }

  ApiPath(String path, ApiPath other) {
    this.path = path;
    this.work = other.work;
    this.promptFields = other.promptFields;
  }

  /** The one of that path; throws where there is none. */
  public static ApiPath of(String path) {
    for (var each : values()) if (each.path.equals(path)) return each;
    throw new IllegalArgumentException("no path " + path);
  }

  public String path() {
    return path;
  }

  public Work work() {
    return work;
  }

  /** The fields of which the prompt is made, in the order in which they come into it. */
  List<String> promptFields() {
    return promptFields;
  }

  /**
   * The path whose prompt this one's can be turned into; null where its tokens cannot be known.
   *
   * @see ChatForm
   */
  @Nullable
  ApiPath tokenisedAs() {
    return switch (this) {
      case CHAT, RESPONSES, MESSAGES -> CHAT;
      case COMPLETIONS -> COMPLETIONS;
      default -> null;
    };
  }
}
