package dev.kvasir.tools.load;

import dev.kvasir.Nullable;
import java.net.URI;

/**
 * A server that speaks the OpenAI interface, and what to ask it for.
 *
 * @param url without a path, or with the one that comes before {@code /v1}
 * @param key null where the server wants none
 */
public record OpenAiTarget(
    URI url, Style style, String model, @Nullable String key, Lengths lengths) {
  /** Style in which the server is asked: by chat or by completion. */
  public enum Style {
    CHAT("/v1/chat/completions"),
    COMPLETIONS("/v1/completions");

    private final String path;

    Style(String path) {
      this.path = path;
    }

    String path() {
      return path;
    }
  }

  /** Lengths of outputs: as asked for, or at most that. */
  public enum Lengths {
    /** As vLLM does when told to ignore the end of the text; other servers may refuse the field. */
    FORCED,
    /** Until the model ends, or so many tokens. */
    AT_MOST
  }

  public OpenAiTarget {
    var scheme = String.valueOf(url.getScheme());
    boolean known = scheme.equals("http") || scheme.equals("https");
    if (!known || url.getHost() == null) {
      throw new IllegalArgumentException(url + " is not an address; expected http://HOST:PORT");
    }
  }

  String at(String path) {
    var base = url.toString();
    return (base.endsWith("/") ? base.substring(0, base.length() - 1) : base) + path;
  }

  /** The same server, asked for another model. */
  public OpenAiTarget withModel(String name) {
    return new OpenAiTarget(url, style, name, key, lengths);
  }
}
