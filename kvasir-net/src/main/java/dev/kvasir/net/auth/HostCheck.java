package dev.kvasir.net.auth;

import dev.kvasir.Nullable;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Refuses requests that a web page made a browser send.
 *
 * <p>A page may let its own name lead to this machine (DNS rebinding) and then ask as if it came
 * from here; the {@code Host} header still has its name. Or it may send a request to the right
 * address, and then {@code Origin} has its name. Both matter only where no keys are set: no page
 * knows a key.
 */
public final class HostCheck {
  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|[^:]+\\.localhost|127\\.\\d+\\.\\d+\\.\\d+|\\[::1\\]");
  private static final Pattern USUAL_PORT = Pattern.compile(":(80|443)?$");

  private final List<String> names;
  private final boolean anyHost;

  /**
   * Checks for a server.
   *
   * @param names under which it is reached besides those of this machine
   */
  public HostCheck(String listensOn, List<String> names) {
    this.names = names.stream().map(HostCheck::lower).toList();
    this.anyHost = names.isEmpty() && !isLoopback(listensOn);
  }

  /** Returns whether an address or a name is that of this machine alone. */
  public static boolean isLoopback(String host) {
    var lower = lower(host);
    return LOOPBACK.matcher(lower).matches() || lower.equals("::1");
  }

  /**
   * Throws {@link Refused} for a request that is not for this server, or not from it.
   *
   * @param host the header as it came; null where there is none
   * @param origin the header as it came; null where there is none
   */
  public void require(@Nullable String host, @Nullable String origin) {
    if (host != null && !anyHost && !isOurs(lower(host))) {
      throw new Refused(
          ApiError.forbidden(
              "this server is not \"%s\": ask 127.0.0.1, or add the name to listen.names"
                  .formatted(shown(host))));
    }
    if (origin != null && !isSame(lower(origin), host)) {
      throw new Refused(
          ApiError.forbidden(
              "pages of \"%s\" may not ask here: set keys, or add the name to listen.names"
                  .formatted(shown(origin))));
    }
  }

  private boolean isOurs(String host) {
    var name = withoutPort(host);
    return name.equals("127.0.0.1") || names.contains(name) || LOOPBACK.matcher(name).matches();
  }

  /** A page of this server, or of a name under which it is reached by way of another. */
  private boolean isSame(String origin, @Nullable String host) {
    int scheme = origin.indexOf("://");
    if (scheme < 0) return false;
    var authority = origin.substring(scheme + 3);
    if (names.contains(withoutPort(authority))) return true;
    return host != null && withoutUsualPort(authority).equals(withoutUsualPort(lower(host)));
  }

  /** The name alone; every request comes by here, so that it is not matched by a pattern. */
  private static String withoutPort(String authority) {
    int at = authority.length();
    while (at > 0 && authority.charAt(at - 1) >= '0' && authority.charAt(at - 1) <= '9') at--;
    return at > 0 && authority.charAt(at - 1) == ':' ? authority.substring(0, at - 1) : authority;
  }

  private static String withoutUsualPort(String authority) {
    return USUAL_PORT.matcher(authority).replaceFirst("");
  }

  private static String lower(String text) {
    return text.toLowerCase(Locale.ROOT);
  }

  private static String shown(String text) {
    int charsMax = 100;
    return text.length() <= charsMax ? text : text.substring(0, charsMax) + "…";
  }
}
