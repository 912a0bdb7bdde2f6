package dev.kvasir.text;

import dev.kvasir.Nullable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Added tokens: these are found literally in a text, before it is processed further. */
final class AddedTokens {
  /**
   * One added token.
   *
   * @param left whether spaces before it belong to it; {@code right} the same for spaces behind it
   * @param word whether it counts only as a separate word
   */
  record Added(int id, String text, Side left, Side right, Side word) {}

  /** Choice of whether something belongs to a token. */
  enum Side {
    NO,
    YES
  }

  /** Place where a token was found. */
  record Found(int from, int to, int id) {}

  private static final class Node {
    private final Map<Character, Node> next = new HashMap<>();
    private @Nullable Added token;
  }

  private final Node root = new Node();
  private int longest;

  AddedTokens(List<Added> tokens) {
    for (var token : tokens) {
      var node = root;
      for (int i = 0; i < token.text().length(); i++) {
        node = node.next.computeIfAbsent(token.text().charAt(i), _ -> new Node());
      }
      if (node != root) node.token = token;
      longest = Math.max(longest, token.text().length());
    }
  }

  /** Returns the length of the longest one in letters. */
  int longest() {
    return longest;
  }

  /** The first one at or after {@code from}; of several there, the longest. */
  @Nullable
  Found find(char[] text, int from, int limit) {
    for (int at = from; at < limit; at++) {
      var node = root.next.get(text[at]);
      if (node == null) continue;
      Added best = null;
      for (int end = at + 1; node != null; end++) {
        if (node.token != null && isAlone(node.token, text, at, end, limit)) best = node.token;
        node = end < limit ? node.next.get(text[end]) : null;
      }
      if (best != null) return found(best, text, from, at, limit);
    }
    return null;
  }

  private static boolean isAlone(Added token, char[] text, int from, int to, int limit) {
    if (token.word() == Side.NO) return true;
    boolean begins = from == 0 || !isWord(text[from - 1]);
    return begins && (to == limit || !isWord(text[to]));
  }

  private static boolean isWord(char letter) {
    return Character.isLetterOrDigit(letter) || letter == '_';
  }

  private static Found found(Added token, char[] text, int after, int at, int limit) {
    int from = at;
    int to = at + token.text().length();
    while (token.left() == Side.YES && from > after && LetterKinds.isSpace(text[from - 1])) from--;
    while (token.right() == Side.YES && to < limit && LetterKinds.isSpace(text[to])) to++;
    return new Found(from, to, token.id());
  }
}
