package dev.kvasir.net.openai;

import dev.kvasir.kv.evict.policy.ReturnHint.Expectation;
import dev.kvasir.kv.name.Sha256;
import java.nio.charset.StandardCharsets;

/**
 * Hint of a caller about the conversation that a request belongs to.
 *
 * @param session a hash of its name and the tenant's; empty where it has none
 * @param returnHint whether the conversation goes on
 * @param pinSeconds time for which its blocks are to be kept before others; 0 for nothing of the
 *     kind
 */
public record SessionHint(String session, Expectation returnHint, int pinSeconds) {
  /** Nothing was said. */
  public static final SessionHint NONE = new SessionHint("", Expectation.NOTHING, 0);

  /** The headers that carry it. */
  public static final String SESSION = "x-kvasir-session";

  public static final String LAST_TURN = "x-kvasir-last-turn";
  public static final String PIN = "x-kvasir-pin";

  /** Path at which a session is ended, by its name after the last slash. */
  public static final String PATH = "/v1/sessions/";

  /** Longer names are ignored. */
  public static final int NAME_CHARS_MAX = 1_024;

  /** Returns whether a session can have that name. */
  static boolean isName(String name) {
    return !name.isEmpty()
        && name.length() <= NAME_CHARS_MAX
        && StandardCharsets.UTF_8.newEncoder().canEncode(name);
  }

  /** Returns the hash that stands for the tenant's session of that name. */
  public static String hash(String tenant, String name) {
    return Sha256.hex((tenant.length() + ":" + tenant + name).getBytes(StandardCharsets.UTF_8));
  }

  /** The same conversation, which goes on. */
  public SessionHint returning() {
    return new SessionHint(session, Expectation.RETURNS, pinSeconds);
  }

  /** Returns what {@link #LAST_TURN} says to a worker; empty if nothing was said. */
  public String lastTurn() {
    return switch (returnHint) {
      case NOTHING -> "";
      case RETURNS -> "false";
      case LAST -> "true";
    };
  }
}
