package dev.kvasir.net.client;

/**
 * A server that requests are sent to.
 *
 * @param host a name, or an address; one of IPv6 may stand in brackets
 * @param security whether it is asked over TLS
 */
public record Target(String host, int port, Security security) {
  /** Protection of a connection. */
  public enum Security {
    PLAIN,
    TLS
  }

  private static final int HTTP = 80;
  private static final int HTTPS = 443;

  /** Returns the name by which a request calls the target. */
  String authority() {
    int usual = security == Security.TLS ? HTTPS : HTTP;
    return port == usual ? host : host + ":" + port;
  }

  /** Returns the name to look up. */
  String address() {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }
}
