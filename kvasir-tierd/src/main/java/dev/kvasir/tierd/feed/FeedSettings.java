package dev.kvasir.tierd.feed;

/**
 * Endpoints at which a daemon tells routers what it holds.
 *
 * @param endpoint where routers listen, as tcp://HOST:PORT, with * for all addresses of the machine
 * @param replay where they ask for what they missed
 */
public record FeedSettings(String endpoint, String replay) {
  /** On this machine alone. */
  public static final FeedSettings DEFAULT =
      new FeedSettings("tcp://127.0.0.1:5570", "tcp://127.0.0.1:5571");

  public FeedSettings {
    for (var address : new String[] {endpoint, replay}) {
      if (!address.matches("tcp://[^:]+:(\\d{1,5}|\\*)")) {
        throw new IllegalArgumentException(
            "'" + address + "', expected tcp://HOST:PORT, as tcp://*:5570");
      }
    }
  }
}
