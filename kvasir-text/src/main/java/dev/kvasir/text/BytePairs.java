package dev.kvasir.text;

import dev.kvasir.Nullable;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Tokenizes one piece of text: merges its bytes or characters pair by pair, the earliest learned
 * pair first.
 *
 * <p>Pieces repeat, so the tokens of short ones are cached in a table of fixed size, in which a
 * newer piece replaces an older one. Safe for use by several threads, since an entry never changes.
 */
final class BytePairs {
  /** Rules for how pieces become symbols, and for symbols that are not in the vocabulary. */
  record Rules(Symbols symbols, boolean wholePieces, int unknown, boolean oneUnknown) {
    static final Rules OF_BYTES = new Rules(Symbols.BYTES, false, NONE, false);
  }

  /** Kind of symbols that are merged. */
  enum Symbols {
    /** Every byte has a letter in the vocabulary. */
    BYTES,
    /** Letters; those that are not in the vocabulary are unknown. */
    LETTERS,
    /** Letters; those that are not in the vocabulary are written as bytes. */
    LETTERS_OR_BYTES
  }

  @SuppressWarnings("ArrayRecordComponent") // never changed, never compared
  private record Entry(char[] piece, int[] tokens) {
    boolean is(char[] text, int from, int to) {
      return Arrays.equals(piece, 0, piece.length, text, from, to);
    }
  }

  static final int NONE = -1;
  private static final int CACHE = 1 << 16;
  private static final int CACHED_LETTERS_MAX = 32;
  private static final int SCANNED_MAX = 24;
  private static final int MULTIPLIER = 0x9E3779B1;

  private final Map<String, Integer> vocabulary;
  private final Rules rules;
  private final int[] byteTokens = new int[256];
  private final long[] pairs;
  private final long[] ranks;
  private final @Nullable Entry[] cache = new Entry[CACHE];

  /**
   * One of a vocabulary.
   *
   * @param merges pairs of tokens in the order they were learned
   */
  BytePairs(Map<String, Integer> vocabulary, List<String[]> merges, Rules rules)
      throws UnsupportedText {
    this.vocabulary = new HashMap<>(vocabulary);
    this.rules = rules;
    for (int b = 0; b < byteTokens.length; b++) {
      var name = rules.symbols == Symbols.BYTES ? ByteLetters.letter(b) + "" : byteName(b);
      byteTokens[b] = vocabulary.getOrDefault(name, NONE);
      if (byteTokens[b] == NONE && rules.symbols != Symbols.LETTERS) {
        throw new UnsupportedText("its vocabulary has no token for the byte " + b);
      }
    }
    int room = Integer.highestOneBit(Math.max(16, merges.size()) * 4);
    this.pairs = new long[room];
    this.ranks = new long[room];
    Arrays.fill(pairs, NONE);
    for (int rank = 0; rank < merges.size(); rank++) learn(merges.get(rank), rank);
  }

  /** The two sides of a merge that is written with a space between them. */
  static String[] pair(String merge) throws UnsupportedText {
    int space = merge.indexOf(' ', 1);
    if (space < 0) {
      throw new UnsupportedText("the merge " + UnsupportedText.shown(merge) + " is no pair");
    }
    return new String[] {merge.substring(0, space), merge.substring(space + 1)};
  }

  private static String byteName(int number) {
    return "<0x%02X>".formatted(number);
  }

  private void learn(String[] merge, int rank) throws UnsupportedText {
    var left = vocabulary.get(merge[0]);
    var right = vocabulary.get(merge[1]);
    var both = vocabulary.get(merge[0] + merge[1]);
    if (left == null || right == null || both == null) {
      throw new UnsupportedText(
          "the merge %s names no tokens of the vocabulary"
              .formatted(UnsupportedText.shown(merge[0] + " " + merge[1])));
    }
    long pair = (long) left << Integer.SIZE | right;
    int at = slot(pair);
    // A later merge of the same pair takes the place of the earlier one.
    pairs[at] = pair;
    ranks[at] = (long) rank << Integer.SIZE | both;
  }

  private int slot(long pair) {
    int mask = pairs.length - 1;
    long mixed = pair * 0x9E3779B97F4A7C15L;
    int at = (int) (mixed >>> Integer.SIZE) & mask;
    while (pairs[at] != NONE && pairs[at] != pair) at = at + 1 & mask;
    return at;
  }

  /** When the pair was learned and what it becomes, in one number; or {@link #NONE}. */
  private long rank(int left, int right) {
    int at = slot((long) left << Integer.SIZE | right);
    return pairs[at] == NONE ? NONE : ranks[at];
  }

  /** Adds the tokens of the piece. */
  void encode(char[] text, int from, int to, TokenBuffer out) {
    int length = to - from;
    if (length > CACHED_LETTERS_MAX) {
      var tokens = merged(new String(text, from, length));
      out.add(tokens, tokens.length);
      return;
    }
    int hash = length;
    for (int i = from; i < to; i++) hash = hash * 31 + text[i];
    int at = (hash * MULTIPLIER) >>> 16;
    var entry = cache[at];
    if (entry == null || !entry.is(text, from, to)) {
      var piece = Arrays.copyOfRange(text, from, to);
      entry = new Entry(piece, merged(new String(piece)));
      cache[at] = entry;
    }
    out.add(entry.tokens, entry.tokens.length);
  }

  private int[] merged(String piece) {
    if (rules.wholePieces) {
      var whole = vocabulary.get(rules.symbols == Symbols.BYTES ? letters(piece) : piece);
      if (whole != null) return new int[] {whole};
    }
    var symbols = rules.symbols == Symbols.BYTES ? bytes(piece) : symbols(piece);
    int count = symbols.length <= SCANNED_MAX ? scan(symbols) : new Queue(symbols).run();
    return count == symbols.length ? symbols : Arrays.copyOf(symbols, count);
  }

  private static String letters(String piece) {
    var bytes = piece.getBytes(StandardCharsets.UTF_8);
    var letters = new char[bytes.length];
    for (int i = 0; i < letters.length; i++) letters[i] = ByteLetters.letter(bytes[i] & 0xff);
    return new String(letters);
  }

  private int[] bytes(String piece) {
    var bytes = piece.getBytes(StandardCharsets.UTF_8);
    var symbols = new int[bytes.length];
    for (int i = 0; i < symbols.length; i++) symbols[i] = byteTokens[bytes[i] & 0xff];
    return symbols;
  }

  private int[] symbols(String piece) {
    var out = new TokenBuffer(piece.length());
    boolean wasUnknown = false;
    for (int at = 0; at < piece.length(); ) {
      int point = piece.codePointAt(at);
      var letter = Character.toString(point);
      at += letter.length();
      var known = vocabulary.get(letter);
      boolean isUnknown = known == null && rules.symbols == Symbols.LETTERS;
      if (known != null) {
        out.add(known);
      } else if (!isUnknown) {
        for (byte each : letter.getBytes(StandardCharsets.UTF_8)) out.add(byteTokens[each & 0xff]);
      } else if (rules.unknown != NONE && !(wasUnknown && rules.oneUnknown)) {
        out.add(rules.unknown);
      }
      wasUnknown = isUnknown;
    }
    return out.toArray();
  }

  /** Searches all pairs for the first each time, which is fastest for short pieces. */
  private int scan(int[] symbols) {
    int count = symbols.length;
    var found = new long[Math.max(0, count - 1)];
    for (int i = 0; i + 1 < count; i++) found[i] = rank(symbols[i], symbols[i + 1]);
    while (count > 1) {
      long best = Long.MAX_VALUE;
      int where = NONE;
      for (int i = 0; i + 1 < count; i++) {
        if (found[i] != NONE && found[i] >>> Integer.SIZE < best) {
          best = found[i] >>> Integer.SIZE;
          where = i;
        }
      }
      if (where == NONE) break;
      symbols[where] = (int) found[where];
      System.arraycopy(symbols, where + 2, symbols, where + 1, count - where - 2);
      if (count - where - 3 > 0) {
        System.arraycopy(found, where + 2, found, where + 1, count - where - 3);
      }
      count--;
      if (where + 1 < count) found[where] = rank(symbols[where], symbols[where + 1]);
      if (where > 0) found[where - 1] = rank(symbols[where - 1], symbols[where]);
    }
    return count;
  }

  /** Merges long pieces: pairs wait in a heap by rank and place. */
  private final class Queue {
    private final int[] symbols;
    private final int[] before;
    private final int[] after;

    /** Rank and place of each pair that waits. */
    private long[] heap = new long[64];

    private int waiting;

    Queue(int[] symbols) {
      this.symbols = symbols;
      this.before = new int[symbols.length];
      this.after = new int[symbols.length];
      for (int i = 0; i < symbols.length; i++) {
        before[i] = i - 1;
        after[i] = i + 1 < symbols.length ? i + 1 : NONE;
      }
    }

    int run() {
      for (int i = 0; i < symbols.length; i++) offer(i);
      while (waiting > 0) {
        long first = poll();
        int left = (int) first;
        int right = symbols[left] == NONE ? NONE : after[left];
        if (right == NONE) continue;
        long found = rank(symbols[left], symbols[right]);
        // The pair that waited may be gone, and another of a later rank may be there.
        if (found == NONE || found >>> Integer.SIZE != first >>> Integer.SIZE) continue;
        symbols[left] = (int) found;
        symbols[right] = NONE;
        after[left] = after[right];
        if (after[right] != NONE) before[after[right]] = left;
        offer(left);
        if (before[left] != NONE) offer(before[left]);
      }
      int count = 0;
      for (int symbol : symbols) if (symbol != NONE) symbols[count++] = symbol;
      return count;
    }

    private void offer(int left) {
      int right = after[left];
      if (right == NONE) return;
      long found = rank(symbols[left], symbols[right]);
      if (found == NONE) return;
      if (waiting == heap.length) heap = Arrays.copyOf(heap, 2 * waiting);
      long pair = found >>> Integer.SIZE << Integer.SIZE | left;
      int at = waiting++;
      while (at > 0 && heap[(at - 1) / 2] > pair) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
      }
      heap[at] = pair;
    }

    private long poll() {
      long first = heap[0];
      long last = heap[--waiting];
      int at = 0;
      for (int child = 1; child < waiting; child = 2 * at + 1) {
        if (child + 1 < waiting && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= last) break;
        heap[at] = heap[child];
        at = child;
      }
      heap[at] = last;
      return first;
    }
  }
}
