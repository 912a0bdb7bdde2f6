package dev.kvasir.text;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Tokenizes a conversation in the format ChatML.
 *
 * <p>A file's template is a program. It is not run but recognised, whatever its variables are
 * named. The text of a message cannot become a special token or end its turn.
 */
public final class ChatTemplate {
  private static final int MESSAGES_MAX = 4_096;
  private static final String BEGIN = "<|im_start|>";
  private static final String END = "<|im_end|>";

  private static final Pattern TAG_SPACE = Pattern.compile("\\{%-?\\s*(.*?)\\s*-?%\\}\\s*?");
  private static final Pattern SHOWN = Pattern.compile("\\{\\{-?\\s*(.*?)\\s*-?\\}\\}");
  private static final Pattern PIECE =
      Pattern.compile("'((?:[^'\\\\]|\\\\.)*)'|(\\w+(?:\\[['\"]\\w+['\"]\\]|\\.\\w+))|\\s*\\+\\s*");

  private static final Pattern CHAT_ML =
      Pattern.compile(
          "\\{% for (?<m>\\w+) in messages %\\}(?:\\{% if loop\\.first and"
              + " messages\\[0\\]\\[.role.\\] != .system. %\\}<\\|im_start\\|>system\\n"
              + "(?<system>[^<{]*)<\\|im_end\\|>\\n"
              + "\\{% endif %\\})?<\\|im_start\\|>\\{\\{ \\k<m>\\.role \\}\\}\\n"
              + "\\{\\{ \\k<m>\\.content \\}\\}<\\|im_end\\|>\\n"
              + "\\{% endfor %\\}(?:\\{% if add_generation_prompt %\\}<\\|im_start\\|>assistant\\n"
              + "\\{% endif %\\})?");

  private final Tokenizer tokenizer;
  private final int begin;
  private final int end;
  private final Optional<String> defaultSystem;

  private ChatTemplate(Tokenizer tokenizer, int begin, int end, Optional<String> defaultSystem) {
    this.tokenizer = tokenizer;
    this.begin = begin;
    this.end = end;
    this.defaultSystem = defaultSystem;
  }

  /** Recognises the template. */
  public static ChatTemplate of(String template, Tokenizer tokenizer) throws UnsupportedText {
    var matcher = CHAT_ML.matcher(plain(template));
    var begin = tokenizer.special(BEGIN);
    var end = tokenizer.special(END);
    if (!matcher.matches() || begin.isEmpty() || end.isEmpty()) {
      throw new UnsupportedText("its chat template is none that can be run, which is ChatML alone");
    }
    return new ChatTemplate(
        tokenizer, begin.get(), end.get(), Optional.ofNullable(matcher.group("system")));
  }

  /** The template in one spelling: texts as they are, variables as {@code {{ m.role }}}. */
  static String plain(String template) {
    var tags =
        TAG_SPACE
            .matcher(template.strip())
            .replaceAll(m -> Matcher.quoteReplacement("{% " + m.group(1) + " %}"));
    return SHOWN.matcher(tags).replaceAll(m -> Matcher.quoteReplacement(pieces(m.group(1))));
  }

  private static String pieces(String expression) {
    var matcher = PIECE.matcher(expression);
    var text = new StringBuilder();
    int at = 0;
    while (at < expression.length() && matcher.find(at) && matcher.start() == at) {
      if (matcher.group(1) != null) {
        text.append(matcher.group(1).replace("\\n", "\n"));
      } else if (matcher.group(2) != null) {
        text.append("{{ ").append(dotted(matcher.group(2))).append(" }}");
      }
      at = matcher.end();
    }
    return at < expression.length() ? "{{ " + expression + " }}" : text.toString();
  }

  private static String dotted(String variable) {
    return variable.replaceAll("\\[['\"](\\w+)['\"]\\]", ".$1");
  }

  /** The tokens of the messages, and of the beginning of the assistant's answer. */
  public int[] encode(List<ChatMessage> messages) {
    if (messages.isEmpty() || messages.size() > MESSAGES_MAX) {
      throw new IllegalArgumentException(
          messages.size() + " messages, expected 1 to " + MESSAGES_MAX);
    }
    var tokens = IntStream.builder();
    tokenizer.beginning().ifPresent(tokens::add);
    var first = messages.getFirst();
    if (first.role() != ChatMessage.Role.SYSTEM) {
      defaultSystem.ifPresent(
          text -> append(tokens, new ChatMessage(ChatMessage.Role.SYSTEM, text)));
    }
    for (var message : messages) append(tokens, message);
    tokens.add(begin);
    add(tokens, ChatMessage.Role.ASSISTANT.key() + "\n");
    return tokens.build().toArray();
  }

  private void append(IntStream.Builder tokens, ChatMessage message) {
    tokens.add(begin);
    add(tokens, message.role().key() + "\n" + message.content());
    tokens.add(end);
    add(tokens, "\n");
  }

  private void add(IntStream.Builder tokens, String text) {
    for (int token : tokenizer.encode(text)) tokens.add(token);
  }
}
