package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Locale;

/** Paths at which callers can ask workers, and what a gateway must know of each. */
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

  /** Work that a request makes the engine of a worker do. */
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

  private static final int DECODED_MAX = 8;

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
    var found = find(path);
    if (found != null) return found;
    throw new IllegalArgumentException("no path " + path);
  }

  /** The one of that path, letter by letter; null where there is none. */
  public static @Nullable ApiPath find(String path) {
    for (var each : values()) if (each.path.equals(path)) return each;
    return null;
  }

  /**
   * Returns whether some server would read the path as one of these: decoded once or more often,
   * without empty segments and dots, parameters and what follows a {@code #}, in small or capital
   * letters.
   */
  public static boolean isMeantBy(String path) {
    var decoded = path;
    for (int i = 0; i < DECODED_MAX && decoded.indexOf('%') >= 0; i++) decoded = decoded(decoded);
    var segments = new ArrayDeque<String>();
    for (var each : decoded.split("[?#]", 2)[0].split("[/\\\\]", -1)) {
      var segment = each.split(";", 2)[0].strip();
      if (segment.equals("..")) segments.pollLast();
      else if (!segment.isEmpty() && !segment.equals(".")) segments.add(segment);
    }
    var plain = "/" + String.join("/", segments).toLowerCase(Locale.ROOT);
    return find(plain) != null;
  }

  /** With each percent sign and two digits as the letter that they stand for. */
  private static String decoded(String path) {
    var out = new StringBuilder();
    for (int at = 0; at < path.length(); at++) {
      boolean isCode = path.charAt(at) == '%' && at + 2 < path.length();
      int high = isCode ? Character.digit(path.charAt(at + 1), 16) : -1;
      int low = isCode ? Character.digit(path.charAt(at + 2), 16) : -1;
      if (high < 0 || low < 0) {
        out.append(path.charAt(at));
      } else {
        out.append((char) (high << 4 | low));
        at += 2;
      }
    }
    return out.toString();
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
