package dev.kvasir.gateway;

import dev.kvasir.net.openai.SessionHint;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Bodies of requests: right ones, ones with odd values, and ones that are no JSON. */
final class FuzzJson {
  /** Prompts are drawn from so many, so that what a router learns of them is bounded. */
  private static final int PROMPTS = 64;

  private static final List<String> TEXTS = List.of("model", "cache_salt");

  /** A prompt that begins so has tokens that cannot be told: the tokenizer fails at it. */
  static final String NAMELESS = "nameless ";

  /** The longest name of a session that is taken; each character of it takes two bytes. */
  private static final String LONG_NAME = "\u0142".repeat(SessionHint.NAME_CHARS_MAX - 16);

  private final SplittableRandom random;

  FuzzJson(SplittableRandom random) {
    this.random = random;
  }

  private boolean one(int in) {
    return random.nextInt(in) == 0;
  }

  private <T> T any(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  String good() {
    return written(fields());
  }

  private String good(String name, String value, String... without) {
    var fields = fields();
    List.of(without).forEach(fields::remove);
    fields.put(name, value);
    return written(fields);
  }

  /** One whose prompt cannot be named, by no fault of its caller. */
  String nameless() {
    return good("prompt", "\"" + NAMELESS + random.nextInt() + "\"", "messages");
  }

  /**
   * One that names a session, perhaps by what is no name.
   *
   * @param charsMax how long the names are at most
   */
  String session(int charsMax) {
    var field = one(4) ? "session_id" : "prompt_cache_key";
    if (one(8)) return good(field, wrongText());
    if (one(16)) return good(field, "\"" + "s".repeat(random.nextInt(charsMax)) + "\"");
    var name = charsMax < LONG_NAME.length() ? "s".repeat(random.nextInt(charsMax)) : LONG_NAME;
    return good(field, "\"" + name + random.nextInt() + "\"");
  }

  /** A field that matters has a value of a kind that it cannot have. */
  String mistyped() {
    var fields = fields();
    if (one(4)) fields.put("stream", any(List.of("1", "\"true\"", "[]", "{}", "0.5")));
    else fields.put(any(TEXTS), wrongText());
    return written(fields);
  }

  private String wrongText() {
    return switch (random.nextInt(6)) {
      case 0 -> "" + random.nextInt();
      case 1 -> "[\"a\"]";
      case 2 -> "{\"a\":1}";
      case 3 -> "true";
      case 4 -> "\"\\ud800\"";
      default -> "\"x\\udfff" + random.nextInt() + "\"";
    };
  }

  /** Some fields have any value at all. */
  String mutated() {
    var fields = fields();
    var names =
        List.of(
            "messages",
            "prompt",
            "input",
            "tools",
            "n",
            "best_of",
            "echo",
            "max_tokens",
            "user",
            "stream_options",
            "kv_transfer_params",
            "bootstrap_room",
            "x",
            "",
            "\\u0000",
            "\\n");
    for (int i = 0; i <= random.nextInt(4); i++) fields.put(any(names), value(0));
    if (one(5)) fields.put("model", "\"" + "m".repeat(random.nextInt(600)) + "\"");
    return written(fields);
  }

  private String value(int depth) {
    return switch (random.nextInt(depth > 3 ? 8 : 11)) {
      case 0 -> "null";
      case 1 -> "true";
      case 2 -> "" + random.nextLong();
      case 3 -> any(List.of("-0", "1e999", "1E-999", "0.1", "12345678901234567890123456789"));
      case 4 -> "\"" + "größer ".repeat(random.nextInt(40)) + "\"";
      case 5 -> "\"\\ud800 \\udc00\\ud800 \\u0000\"";
      case 6 -> "\"" + "x".repeat(random.nextInt(one(32) ? 200_000 : 2_000)) + "\"";
      case 7 -> "[".repeat(random.nextInt(50)) + "";
      case 8 -> "[" + value(depth + 1) + "," + value(depth + 1) + "]";
      case 9 -> "{\"role\":" + value(depth + 1) + ",\"content\":" + value(depth + 1) + "}";
      default -> "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AAAA\"}}";
    };
  }

  /** Returns JSON that no parser accepts. */
  String broken() {
    var good = good();
    return switch (random.nextInt(8)) {
      case 0 -> "";
      case 1 -> good.substring(0, random.nextInt(good.length()));
      case 2 -> good + good;
      case 3 -> "[" + good + "]";
      case 4 -> "{\"a\":1,\"a\":2}";
      case 5 -> "{\"a\":" + "[".repeat(100) + "]".repeat(100) + "}";
      case 6 -> good.replace(':', '=');
      default -> "{\"a\":" + "1".repeat(200) + "}";
    };
  }

  private Map<String, String> fields() {
    var fields = new LinkedHashMap<String, String>();
    int number = random.nextInt(PROMPTS);
    var prompt = ("prompt " + number + " ").repeat(1 + number * 8);
    if (one(4)) fields.put("prompt", "\"" + prompt + "\"");
    else fields.put("messages", "[{\"role\":\"user\",\"content\":\"" + prompt + "\"}]");
    if (!one(3)) fields.put("model", "\"tiny\"");
    if (one(2)) fields.put("stream", one(2) ? "true" : "false");
    if (one(4)) fields.put("max_tokens", "" + random.nextInt(1_000));
    if (one(6)) fields.put("cache_salt", "\"salt " + random.nextInt(4) + "\"");
    return fields;
  }

  private String written(Map<String, String> fields) {
    var space = one(6) ? " \n" : "";
    var text = new StringBuilder("{");
    fields.forEach(
        (name, value) -> {
          if (text.length() > 1) text.append(space).append(',');
          text.append('"').append(name).append("\":").append(space).append(value);
        });
    return text.append('}').toString();
  }
}
