package dev.kvasir.live.events.zmtp;

import java.util.List;

/** What a socket is to its peers, by the names of ZeroMQ. */
public enum ZmtpRole {
  SUB(List.of("PUB", "XPUB")),
  /** Not to another DEALER: a connection to oneself, which TCP can make, would pass for a peer. */
  DEALER(List.of("ROUTER"));

  private final List<String> peers;

  ZmtpRole(List<String> peers) {
    this.peers = peers;
  }

  boolean accepts(String type) {
    return peers.contains(type);
  }

  List<String> peers() {
    return peers;
  }
}
