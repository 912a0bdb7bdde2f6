package dev.kvasir.text;

import dev.kvasir.Nullable;
import dev.kvasir.text.AddedTokens.Added;
import dev.kvasir.text.AddedTokens.Side;
import dev.kvasir.text.TextSteps.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tokenizes text as a {@code tokenizer.json} describes: by merging pairs of bytes, or of characters
 * as SentencePiece does.
 *
 * <pre>
 *   text → added tokens cut out → normalised → pieces → pairs merged → tokens
 * </pre>
 *
 * <p>A file with unsupported features is refused when it is read. A text that begins like an
 * earlier one is tokenized only from where they differ. Safe for use by several threads.
 */
public final class JsonTokenizer {
  /** Choice of whether special tokens are put around a text. */
  public enum Frame {
    NONE,
    /** As the file says, such as a token that begins every sequence. */
    SPECIAL
  }

  static final long FILE_BYTES_MAX = 64L << 20;
  private static final long KNOWN_LETTERS_MAX = 16L << 20;
  private static final int MARK_LETTERS = 64;
  private static final int MARGIN = 8;
  private static final TokenBuffer NOTHING = new TokenBuffer(0);
  private static final String META = "▁";

  private final BytePairs pairs;
  private final AddedTokens added;
  private final AddedTokens addedLater;
  private final List<UnaryOperator<String>> normalizer;
  private final List<TextSteps.Cut> cuts = new ArrayList<>();
  private final int[] before;
  private final int[] after;
  private TextSteps.@Nullable Spaces spaces;
  private @Nullable PieceScanner scanner;
  private final KnownPrefixes known = new KnownPrefixes(KNOWN_LETTERS_MAX);
  private final KnownPrefixes knownSegments = new KnownPrefixes(KNOWN_LETTERS_MAX);

  private JsonTokenizer(JsonNode json) throws UnsupportedText {
    var model = json.path("model");
    this.normalizer = TextSteps.normalizer(json.path("normalizer"));
    this.added = new AddedTokens(added(json, Side.NO));
    this.addedLater =
        new AddedTokens(added(json, Side.YES).stream().map(this::normalized).toList());
    var vocabulary = vocabulary(model);
    boolean bytes = readCuts(json.path("pre_tokenizer"));
    var symbols = BytePairs.Symbols.LETTERS;
    if (model.path("byte_fallback").asBoolean(false)) symbols = BytePairs.Symbols.LETTERS_OR_BYTES;
    if (bytes) symbols = BytePairs.Symbols.BYTES;
    this.pairs = new BytePairs(vocabulary, merges(model), rules(model, vocabulary, symbols));
    if (!bytes && spaces == null && cuts.isEmpty()) cutAtSpaces(vocabulary);
    var frame = new ArrayList<int[]>();
    readFrame(json.path("post_processor"), frame);
    this.before = frame.isEmpty() ? new int[0] : frame.get(0);
    this.after = frame.isEmpty() ? new int[0] : frame.get(1);
  }

  /** That of a file, or of the file of the usual name in a folder. */
  public static JsonTokenizer read(Path path) throws IOException, UnsupportedText {
    return of(json(Files.isDirectory(path) ? path.resolve("tokenizer.json") : path));
  }

  /** The content of a file that is not too large. */
  static JsonNode json(Path file) throws IOException, UnsupportedText {
    if (Files.size(file) > FILE_BYTES_MAX) {
      throw new UnsupportedText(file + " is larger than " + FILE_BYTES_MAX + " bytes");
    }
    try {
      return JsonMapper.shared().readTree(Files.readAllBytes(file));
    } catch (JacksonException e) {
      throw new UnsupportedText(file + " is no JSON: " + e.getOriginalMessage());
    }
  }

  static JsonTokenizer of(JsonNode json) throws UnsupportedText {
    return new JsonTokenizer(json);
  }

  /** Those that are found before the text is normalised, or afterwards. */
  private static List<Added> added(JsonNode json, Side normalized) {
    var tokens = new ArrayList<Added>();
    for (var each : json.path("added_tokens")) {
      if (side(each, "normalized") != normalized) continue;
      tokens.add(
          new Added(
              each.path("id").asInt(),
              each.path("content").asString(""),
              side(each, "lstrip"),
              side(each, "rstrip"),
              side(each, "single_word")));
    }
    return tokens;
  }

  /** A token that is searched for in normalized text is normalized itself. */
  private Added normalized(Added token) {
    return new Added(
        token.id(), normalized(token.text()), token.left(), token.right(), token.word());
  }

  private String normalized(String written) {
    var text = written;
    for (var step : normalizer) text = step.apply(text);
    return text;
  }

  private static Side side(JsonNode token, String name) {
    return token.path(name).asBoolean(false) ? Side.YES : Side.NO;
  }

  private static Map<String, Integer> vocabulary(JsonNode model) throws UnsupportedText {
    var type = model.path("type").asString("BPE");
    if (!type.equals("BPE")) {
      throw new UnsupportedText("a tokenizer of type " + type + " is not supported, only BPE");
    }
    if (!model.path("vocab").isObject()) {
      throw new UnsupportedText(
          "the file has no vocabulary (model.vocab); is it a tokenizer.json?");
    }
    if (!model.path("continuing_subword_prefix").asString("").isEmpty()
        || !model.path("end_of_word_suffix").asString("").isEmpty()) {
      throw new UnsupportedText("marks within or behind words are not supported");
    }
    var vocabulary = new HashMap<String, Integer>();
    for (var entry : model.path("vocab").properties()) {
      vocabulary.put(entry.getKey(), entry.getValue().asInt());
    }
    return vocabulary;
  }

  private static List<String[]> merges(JsonNode model) throws UnsupportedText {
    var merges = new ArrayList<String[]>();
    for (var each : model.path("merges")) {
      merges.add(
          each.isArray()
              ? new String[] {each.path(0).asString(""), each.path(1).asString("")}
              : BytePairs.pair(each.asString("")));
    }
    return merges;
  }

  private static BytePairs.Rules rules(
      JsonNode model, Map<String, Integer> vocabulary, BytePairs.Symbols symbols) {
    int unknown = vocabulary.getOrDefault(model.path("unk_token").asString(""), BytePairs.NONE);
    return new BytePairs.Rules(
        symbols,
        model.path("ignore_merges").asBoolean(false),
        unknown,
        model.path("fuse_unk").asBoolean(false));
  }

  /** Reads how texts are cut into pieces; answers whether their bytes are merged. */
  private boolean readCuts(JsonNode json) throws UnsupportedText {
    if (json.isNull() || json.isMissingNode()) return false;
    var type = json.path("type").asString("");
    switch (type) {
      case "Sequence" -> {
        boolean bytes = false;
        for (var each : json.path("pretokenizers")) bytes |= readCuts(each);
        return bytes;
      }
      case "ByteLevel" -> {
        readBytes(json);
        return true;
      }
      case "Split" -> readSplit(json);
      case "Digits" -> cuts.add(TextSteps.digits(json));
      case "Metaspace" -> readSpaces(json);
      default -> throw new UnsupportedText("the pre-tokenizer " + type + " is not supported");
    }
    return false;
  }

  private void readBytes(JsonNode json) throws UnsupportedText {
    if (json.path("add_prefix_space").asBoolean(true)) {
      throw new UnsupportedText("a space put before every piece is not supported");
    }
    if (!json.path("use_regex").asBoolean(true)) return;
    if (cuts.isEmpty() && scanner == null) scanner = PieceScanner.GPT2;
    else cuts.add(scan(PieceScanner.GPT2));
  }

  private void readSplit(JsonNode json) throws UnsupportedText {
    var pattern = json.path("pattern").path("Regex").asString("");
    boolean plain = json.path("behavior").asString("").equals("Isolated");
    for (var each : PieceScanner.values()) {
      if (!plain || !each.does(pattern) || json.path("invert").asBoolean(false)) continue;
      if (cuts.isEmpty() && scanner == null) scanner = each;
      else cuts.add(scan(each));
      return;
    }
    if (scanner != null) {
      cuts.add(scan(scanner));
      scanner = null;
    }
    cuts.add(TextSteps.split(json));
  }

  private static TextSteps.Cut scan(PieceScanner scanner) {
    return (text, out) -> {
      var letters = text.toCharArray();
      for (int at = 0; at < letters.length; ) {
        int end = scanner.end(letters, at, letters.length);
        out.add(text.substring(at, end));
        at = end;
      }
    };
  }

  private void readSpaces(JsonNode json) throws UnsupportedText {
    if (spaces != null || !cuts.isEmpty() || scanner != null) {
      throw new UnsupportedText("spaces that are written after a cut are not supported");
    }
    var scheme = json.path("prepend_scheme").asString("always");
    if (json.has("add_prefix_space") && !json.path("add_prefix_space").asBoolean(true)) {
      scheme = "never";
    }
    var letter = json.path("replacement").asString(META);
    spaces = new TextSteps.Spaces(letter, scheme, json.path("split").asBoolean(true));
    var pattern = Pattern.compile(Pattern.quote(letter));
    if (spaces.splits()) cuts.add(TextSteps.at(pattern, TextSteps.Kept.WITH_NEXT));
  }

  /**
   * A text that is not cut would be merged as one piece. If no token has a space behind another
   * character, pairs never merge across such a place, so cutting there gives the same tokens.
   */
  private void cutAtSpaces(Map<String, Integer> vocabulary) {
    for (var token : vocabulary.keySet()) {
      for (int i = 1; i < token.length(); i++) {
        if (token.startsWith(META, i) && !token.startsWith(META, i - 1)) return;
      }
    }
    var place = Pattern.compile("(?<=[^" + META + "])(?=" + META + ")");
    cuts.add(TextSteps.at(place, TextSteps.Kept.WITH_NEXT));
  }

  private void readFrame(JsonNode json, List<int[]> frame) throws UnsupportedText {
    if (json.isNull() || json.isMissingNode()) return;
    var type = json.path("type").asString("");
    switch (type) {
      case "ByteLevel" -> {}
      case "Sequence" -> {
        for (var each : json.path("processors")) readFrame(each, frame);
      }
      case "TemplateProcessing" -> {
        if (!frame.isEmpty()) throw new UnsupportedText("two templates of tokens around a text");
        var sides = List.of(new TokenBuffer(0), new TokenBuffer(0));
        int side = 0;
        for (var each : json.path("single")) {
          if (each.has("Sequence")) side = 1;
          var name = each.path("SpecialToken").path("id").asString("");
          for (var id : json.path("special_tokens").path(name).path("ids")) {
            sides.get(side).add(id.asInt());
          }
        }
        for (var each : sides) frame.add(each.toArray());
      }
      default -> throw new UnsupportedText("the post-processor " + type + " is not supported");
    }
  }

  /** The tokens of the text, the added ones that are written in it included. */
  public int[] encode(String text, Frame frame) {
    var run = new Run(text);
    // Other texts are cut at added tokens alone, before and behind which nothing is merged.
    var prefixes = run.scanned ? known : knownSegments;
    var start = prefixes.find(run.text, added.longest() + MARGIN);
    if (start != null && start.isAllOf(run.text)) return framed(start.known().tokens(), frame);
    if (start == null) run.fromBeginning();
    else run.from(start);
    if (run.isContinuable()) prefixes.keep(run.known());
    return framed(run.tokens(), frame);
  }

  /** Returns how many texts began like an earlier one, and were tokenized only in part. */
  long continued() {
    return known.found() + knownSegments.found();
  }

  /** Returns whether no step changes the text, and a single scanner cuts it. */
  private boolean isScanned(String text) {
    if (scanner == null || !cuts.isEmpty() || addedLater.longest() > 0) return false;
    return normalized(text).equals(text);
  }

  private int[] framed(int[] tokens, Frame frame) {
    if (frame == Frame.NONE || before.length + after.length == 0) return tokens;
    var all = Arrays.copyOf(before, before.length + tokens.length + after.length);
    System.arraycopy(tokens, 0, all, before.length, tokens.length);
    System.arraycopy(after, 0, all, before.length + tokens.length, after.length);
    return all;
  }

  /** One text on its way. */
  private final class Run {
    private final char[] text;
    private final boolean scanned;

    /** Neither is needed for a text that is known. */
    private TokenBuffer out = NOTHING;

    private TokenBuffer marks = NOTHING;
    private int marked;
    private int @Nullable [] made;

    Run(String written) {
      this.text = written.toCharArray();
      this.scanned = isScanned(written);
    }

    private void begin() {
      out = new TokenBuffer(text.length / 3);
      marks = new TokenBuffer(2 * (text.length / MARK_LETTERS + 1));
    }

    int[] tokens() {
      if (made == null) made = out.toArray();
      return made;
    }

    /** Returns whether there is a place in it from which another text could go on. */
    boolean isContinuable() {
      return scanned || marks.size() > 0;
    }

    KnownPrefixes.Known known() {
      return new KnownPrefixes.Known(text, tokens(), marks.toArray());
    }

    void from(KnownPrefixes.Start start) {
      begin();
      out.add(start.known().tokens(), start.tokens());
      for (int i = 0; i < start.known().marks().length; i++) {
        if (start.known().marks()[i - i % 2] > start.letters()) break;
        marks.add(start.known().marks()[i]);
      }
      marked = start.letters();
      goOn(start.letters());
    }

    void fromBeginning() {
      begin();
      goOn(0);
    }

    private void goOn(int begin) {
      int at = begin;
      while (at < text.length) {
        var found = added.find(text, at, text.length);
        int end = found == null ? text.length : found.from();
        if (end > at) plain(at, end);
        if (found == null) return;
        out.add(found.id());
        at = found.to();
        mark(at);
      }
    }

    /** Text without added tokens. */
    private void plain(int from, int to) {
      if (scanned && scanner != null) {
        scan(scanner, from, to);
        return;
      }
      var letters = normalized(new String(text, from, to - from)).toCharArray();
      var place = from == 0 ? Place.FIRST : Place.LATER;
      int at = 0;
      while (at < letters.length) {
        var found = addedLater.find(letters, at, letters.length);
        int end = found == null ? letters.length : found.from();
        if (end > at) pieces(new String(letters, at, end - at), at == 0 ? place : Place.LATER);
        if (found == null) return;
        out.add(found.id());
        at = found.to();
      }
    }

    /**
     * The ends of pieces before a mark do not depend on the text behind it. Spaces before a mark
     * could: they may belong to a longer piece or to an added token behind them.
     */
    private void scan(PieceScanner scanner, int from, int to) {
      for (int at = from; at < to; ) {
        int end = scanner.end(text, at, to);
        pairs.encode(text, at, end, out);
        at = end;
        if (at - marked >= MARK_LETTERS && at < to && !LetterKinds.isSpace(text[at - 1])) mark(at);
      }
    }

    private void mark(int at) {
      marks.add(at);
      marks.add(out.size());
      marked = at;
    }

    private void pieces(String written, Place place) {
      List<String> pieces = List.of(spaces == null ? written : spaces.written(written, place));
      if (scanner != null) pieces = cut(JsonTokenizer.scan(scanner), pieces);
      for (var each : cuts) pieces = cut(each, pieces);
      for (var piece : pieces) {
        var letters = piece.toCharArray();
        pairs.encode(letters, 0, letters.length, out);
      }
    }

    private static List<String> cut(TextSteps.Cut cut, List<String> pieces) {
      var smaller = new ArrayList<String>();
      for (var piece : pieces) cut.cut(piece, smaller);
      return smaller;
    }
  }
}
