package dev.kvasir.events.zmtp;

/** Role of a socket towards its peers, by the names of ZeroMQ. */
public enum ZmtpRole {
  SUB,
  DEALER;

  /** Not two DEALERs: a connection to oneself, which TCP can make, would pass for a peer. */
  boolean accepts(String type) {
    return switch (this) {
      case SUB -> type.equals("PUB") || type.equals("XPUB");
      case DEALER -> type.equals("ROUTER");
    };
  }

  /** Returns what its peers may be, in words. */
  String peers() {
    return switch (this) {
      case SUB -> "PUB or XPUB";
      case DEALER -> "ROUTER";
    };
  }
}
