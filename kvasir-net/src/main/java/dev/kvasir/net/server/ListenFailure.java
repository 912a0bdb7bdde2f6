package dev.kvasir.net.server;

import java.util.Locale;

/** A server cannot have the address it was to listen on; the message says why and what to do. */
public final class ListenFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  private ListenFailure(String message, Throwable cause) {
    super(message, cause);
  }

  /** The failure to listen there, in words that help. */
  public static ListenFailure of(String host, int port, Throwable cause) {
    var message = String.valueOf(cause.getMessage()).toLowerCase(Locale.ROOT);
    var place = host + ":" + port;
    if (message.contains("already in use")) {
      return new ListenFailure(
          "cannot listen on %s: another process uses port %d; stop it, or choose another port"
              .formatted(place, port),
          cause);
    }
    if (message.contains("permission denied")) {
      return new ListenFailure(
          "cannot listen on %s: this user may not use port %d; choose one from 1024 on"
              .formatted(place, port),
          cause);
    }
    if (message.contains("cannot assign") || message.contains("resolve")) {
      return new ListenFailure(
          "cannot listen on %s: this machine has no address %s; choose another host"
              .formatted(place, host),
          cause);
    }
    return new ListenFailure("cannot listen on %s: %s".formatted(place, cause.getMessage()), cause);
  }
}
