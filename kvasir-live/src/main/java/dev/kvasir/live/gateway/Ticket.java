package dev.kvasir.live.gateway;

import dev.kvasir.Nullable;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.router.Route;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.time.Timer;

/** A request at the gateway, from its admission to its end; belongs to the loop of the router. */
final class Ticket {
  /** Hears what becomes of the request; called on the loop of the router. */
  interface Holder {
    void placed(Placed placed);

    void refused(ApiError error);
  }

  enum State {
    NEW,
    WAITING,
    PLACED,
    /** Told that it is not served. */
    REFUSED,
    OVER
  }

  final Ask ask;
  final Holder holder;
  RouteRequest request;
  State state = State.NEW;
  boolean metered;
  int attempts;
  @Nullable Route route;
  @Nullable Timer giveUp;

  /** Whether the first token came, after which the route hears no more of the prefill. */
  boolean answered;

  Ticket(Ask ask, Holder holder) {
    this.ask = ask;
    this.holder = holder;
    this.request = RouteRequest.of(ask.session(), ask.names().tokens(), ask.names().blocks());
  }

  Route openRoute() {
    var open = route;
    if (open == null || open.isClosed()) {
      throw new IllegalStateException("request " + ask.id() + " has no route, " + state);
    }
    return open;
  }
}
