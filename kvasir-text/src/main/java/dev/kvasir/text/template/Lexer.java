package dev.kvasir.text.template;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** Splits a template into tokens. */
final class Lexer {
  /** Kind of a token. */
  enum Kind {
    TEXT,
    /** Begins and ends what is shown. */
    SHOW,
    SHOW_END,
    /** Begins and ends a statement. */
    STATEMENT,
    STATEMENT_END,
    NAME,
    STRING,
    NUMBER,
    SIGN,
    END
  }

  record Token(Kind kind, String text, int line) {
    boolean is(String sign) {
      return kind == Kind.SIGN && text.equals(sign);
    }

    boolean isName(String name) {
      return kind == Kind.NAME && text.equals(name);
    }
  }

  private static final List<String> SIGNS =
      List.of(
          "//", "**", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<", ">", "=", "(", ")",
          "[", "]", "{", "}", ",", ":", ".", "|");

  /** Spaces between the beginning of a line and the end of raw text. */
  private static final Pattern LAST_INDENT = Pattern.compile("(?<=\n)[ \t]+\\z");

  private final String source;
  private final List<Token> tokens = new ArrayList<>();
  private int at;
  private int line = 1;

  /** Sign for how the previous mark trims the text behind it. */
  private char before = ' ';

  private Lexer(String source) {
    this.source = source;
  }

  static List<Token> tokens(String template) throws TemplateFailure {
    var source = template.replace("\r\n", "\n").replace('\r', '\n');
    if (source.endsWith("\n")) source = source.substring(0, source.length() - 1);
    var lexer = new Lexer(source);
    lexer.run();
    return lexer.tokens;
  }

  private void run() throws TemplateFailure {
    while (at < source.length()) {
      int mark = nextMark();
      text(mark);
      if (mark == source.length()) break;
      at = mark;
      switch (source.charAt(mark + 1)) {
        case '{' -> inside(Kind.SHOW, Kind.SHOW_END, "}}");
        case '%' -> statement();
        default -> comment();
      }
    }
    tokens.add(new Token(Kind.END, "", line));
  }

  private int nextMark() {
    for (int i = at; i + 1 < source.length(); i++) {
      if (source.charAt(i) != '{') continue;
      char next = source.charAt(i + 1);
      if (next == '{' || next == '%' || next == '#') return i;
    }
    return source.length();
  }

  /** The text up to a mark, trimmed as the marks on both sides demand. */
  private void text(int mark) {
    int from = at;
    int to = mark;
    if (before == '-') {
      while (from < to && Character.isWhitespace(source.charAt(from))) from++;
    } else if (before == 'n' && from < to && source.charAt(from) == '\n') {
      from++;
    }
    if (mark < source.length()) to = trimmed(from, mark);
    count(at, mark);
    if (to > from) tokens.add(new Token(Kind.TEXT, source.substring(from, to), line));
  }

  private int trimmed(int from, int mark) {
    char control = mark + 2 < source.length() ? source.charAt(mark + 2) : ' ';
    int to = mark;
    if (control == '-') {
      while (to > from && Character.isWhitespace(source.charAt(to - 1))) to--;
      return to;
    }
    if (control == '+' || source.charAt(mark + 1) == '{') return to;
    // Spaces between the beginning of a line and a statement go.
    int start = to;
    while (start > from && (source.charAt(start - 1) == ' ' || source.charAt(start - 1) == '\t')) {
      start--;
    }
    boolean begins = start == 0 || source.charAt(start - 1) == '\n';
    return begins ? start : to;
  }

  private void count(int from, int to) {
    for (int i = from; i < to; i++) if (source.charAt(i) == '\n') line++;
  }

  private void comment() throws TemplateFailure {
    int end = source.indexOf("#}", at + 2);
    if (end < 0) throw new TemplateFailure("line " + line + ": a comment without an end");
    count(at, end);
    char control = source.charAt(end - 1);
    before = control == '-' ? '-' : control == '+' ? ' ' : 'n';
    at = end + 2;
  }

  private void statement() throws TemplateFailure {
    int raw = rawBegin();
    if (raw > 0) {
      raw(raw);
      return;
    }
    inside(Kind.STATEMENT, Kind.STATEMENT_END, "%}");
  }

  /** Behind a mark that begins text without marks; 0 for any other. */
  private int rawBegin() {
    int i = at + 2;
    if (i < source.length() && "-+".indexOf(source.charAt(i)) >= 0) i++;
    while (i < source.length() && Character.isWhitespace(source.charAt(i))) i++;
    if (!source.startsWith("raw", i)) return 0;
    int end = source.indexOf("%}", i);
    if (end < 0) return 0;
    var rest = source.substring(i + 3, end).strip();
    return rest.isEmpty() || rest.equals("-") || rest.equals("+") ? end + 2 : 0;
  }

  private void raw(int from) throws TemplateFailure {
    var end = Pattern.compile("\\{%[-+]?\\s*endraw\\s*[-+]?%\\}").matcher(source);
    if (!end.find(from)) throw new TemplateFailure("line " + line + ": raw text without an end");
    var text = source.substring(from, end.start());
    if (source.charAt(from - 3) == '-') text = text.stripLeading();
    if (end.group().startsWith("{%-")) text = text.stripTrailing();
    else if (!end.group().startsWith("{%+")) text = LAST_INDENT.matcher(text).replaceFirst("");
    tokens.add(new Token(Kind.TEXT, text, line));
    count(at, end.end());
    before = end.group().endsWith("-%}") ? '-' : 'n';
    at = end.end();
  }

  private void inside(Kind begin, Kind end, String mark) throws TemplateFailure {
    tokens.add(new Token(begin, "", line));
    at += 2;
    if (at < source.length() && "-+".indexOf(source.charAt(at)) >= 0) at++;
    int depth = 0;
    while (true) {
      while (at < source.length() && Character.isWhitespace(source.charAt(at))) {
        if (source.charAt(at) == '\n') line++;
        at++;
      }
      if (at >= source.length()) {
        throw new TemplateFailure("line " + line + ": a mark without an end");
      }
      if (depth == 0 && isEnd(mark)) break;
      var token = token();
      if ("([{".contains(token.text()) && token.kind() == Kind.SIGN) depth++;
      if (")]}".contains(token.text()) && token.kind() == Kind.SIGN) depth--;
      tokens.add(token);
    }
    char control = source.charAt(at);
    boolean controlled = control == '-' || control == '+';
    before = control == '-' ? '-' : control != '+' && begin == Kind.STATEMENT ? 'n' : ' ';
    at += controlled ? 3 : 2;
    tokens.add(new Token(end, "", line));
  }

  private boolean isEnd(String mark) {
    if (source.startsWith(mark, at)) return true;
    char control = source.charAt(at);
    return (control == '-' || control == '+') && source.startsWith(mark, at + 1);
  }

  private Token token() throws TemplateFailure {
    char first = source.charAt(at);
    if (first == '\'' || first == '"') return string(first);
    int from = at;
    if (Character.isDigit(first)) {
      while (at < source.length() && isNumber(from)) at++;
      var number = source.substring(from, at).replace("_", "").toLowerCase(Locale.ROOT);
      return new Token(Kind.NUMBER, number, line);
    }
    if (Character.isJavaIdentifierStart(first) && first != '$') {
      while (at < source.length() && Character.isJavaIdentifierPart(source.charAt(at))) at++;
      return new Token(Kind.NAME, source.substring(from, at), line);
    }
    for (var sign : SIGNS) {
      if (!source.startsWith(sign, at)) continue;
      at += sign.length();
      return new Token(Kind.SIGN, sign, line);
    }
    throw new TemplateFailure("line " + line + ": '" + first + "' is not understood");
  }

  private boolean isNumber(int from) {
    char letter = source.charAt(at);
    if (Character.isDigit(letter) || letter == '_') return true;
    if (letter == '.') {
      boolean digits = at + 1 < source.length() && Character.isDigit(source.charAt(at + 1));
      return digits && source.substring(from, at).indexOf('.') < 0;
    }
    if (letter == 'e' || letter == 'E') {
      return at + 1 < source.length() && Character.isDigit(source.charAt(at + 1));
    }
    return false;
  }

  private Token string(char quote) throws TemplateFailure {
    var text = new StringBuilder();
    at++;
    while (at < source.length() && source.charAt(at) != quote) {
      char letter = source.charAt(at);
      if (letter == '\n') line++;
      if (letter != '\\' || at + 1 >= source.length()) {
        text.append(letter);
      } else {
        at++;
        escape(text);
      }
      at++;
    }
    if (at >= source.length()) throw new TemplateFailure("line " + line + ": an open string");
    at++;
    return new Token(Kind.STRING, text.toString(), line);
  }

  private void escape(StringBuilder text) throws TemplateFailure {
    char letter = source.charAt(at);
    switch (letter) {
      case 'n' -> text.append('\n');
      case 't' -> text.append('\t');
      case 'r' -> text.append('\r');
      case 'b' -> text.append('\b');
      case 'f' -> text.append('\f');
      case '0' -> text.append('\0');
      case '\\', '\'', '"' -> text.append(letter);
      case 'x' -> number(text, 2);
      case 'u' -> number(text, 4);
      case 'U' -> number(text, 8);
      case '\n' -> {}
      default -> text.append('\\').append(letter);
    }
  }

  private void number(StringBuilder text, int digits) throws TemplateFailure {
    try {
      text.appendCodePoint(Integer.parseInt(source, at + 1, at + 1 + digits, 16));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new TemplateFailure("line " + line + ": a letter that is none");
    }
    at += digits;
  }
}
