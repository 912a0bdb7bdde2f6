package dev.kvasir.events.zmtp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Address of a peer, or one at which peers are awaited.
 *
 * @param host a name or an address; {@code *} for every address of this machine
 * @param port 0 for any that is free
 */
record ZmtpEndpoint(String host, int port) {
  private static final String ANY = "*";
  private static final int PORT_MAX = 65_535;
  private static final Pattern TCP =
      Pattern.compile(
          "tcp://(?:\\[(?<six>[^\\s/\\[\\]]+)]|(?<host>[^\\s/\\[\\]]+)):(?<port>\\d{1,5}|\\*)");

  /** Reads {@code tcp://HOST:PORT}; an address of IPv6 may stand in brackets. */
  static ZmtpEndpoint of(String text) throws IOException {
    var matcher = TCP.matcher(text);
    if (!matcher.matches()) throw new IOException("'" + text + "', expected tcp://HOST:PORT");
    var six = matcher.group("six");
    var host = six == null ? matcher.group("host") : six;
    boolean any = matcher.group("port").equals(ANY);
    int port = any ? 0 : Integer.parseInt(matcher.group("port"));
    if (port > PORT_MAX || (port == 0 && !any)) {
      throw new IOException("'" + text + "', expected a port of 1 to " + PORT_MAX);
    }
    return new ZmtpEndpoint(host, port);
  }

  /** Returns whether peers connect to this endpoint, as a {@code *} says. */
  boolean isBound() {
    return host.equals(ANY) || port == 0;
  }

  /** Returns the address to listen at. */
  InetSocketAddress local() throws UnknownHostException {
    return host.equals(ANY)
        ? new InetSocketAddress(port)
        : new InetSocketAddress(InetAddress.getByName(host), port);
  }

  /** Returns the addresses that the peer may have, asked of the name service anew. */
  List<InetSocketAddress> remote() throws UnknownHostException {
    return Arrays.stream(InetAddress.getAllByName(host))
        .map(address -> new InetSocketAddress(address, port))
        .toList();
  }
}
