package dev.kvasir.live.http.client;

/**
 * A server that requests are sent to.
 *
 * @param host a name, or an address; one of IPv6 may stand in brackets
 * @param security whether it is asked over TLS
 */
public record Target(String host, int port, Security security) {
  /** How a connection is protected. */
  public enum Security {
    PLAIN,
    TLS
  }

  private static final int HTTP = 80;
  private static final int HTTPS = 443;

  /** What the request calls it. */
  String authority() {
    int usual = security == Security.TLS ? HTTPS : HTTP;
    return port == usual ? host : host + ":" + port;
  }

  /** What is looked up. */
  String address() {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }
}
