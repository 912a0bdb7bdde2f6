package dev.kvasir.live.gateway;

import dev.kvasir.Nullable;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.router.Route;
import dev.kvasir.router.Router;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Admits requests, places them and keeps the books of them; belongs to the loop of the router.
 *
 * <p>Whoever enters leaves exactly once, and its route is closed then whatever happened.
 */
final class Dispatch {
  private static final Duration RETRY_MIN = Duration.ofSeconds(1);
  private static final Duration RETRY_MAX = Duration.ofSeconds(60);
  private static final double MEMORY = 32;

  private final EventLoop loop;
  private final Router router;
  private final Roster roster;
  private final QueueLimits limits;
  private final Consumer<Decision> book;
  private final KeyMeter keys = new KeyMeter();
  private final ArrayDeque<Ticket> waiting = new ArrayDeque<>();
  private int inFlight;
  private double gapNanos = RETRY_MIN.toNanos();
  private long leftNanos;

  Dispatch(
      EventLoop loop, Router router, Roster roster, QueueLimits limits, Consumer<Decision> book) {
    this.loop = loop;
    this.router = router;
    this.roster = roster;
    this.limits = limits;
    this.book = book;
  }

  int inFlight() {
    return inFlight;
  }

  int waiting() {
    return waiting.size();
  }

  /** Where requests are counted before they enter; from any thread. */
  KeyMeter keys() {
    return keys;
  }

  /** Writes down a request that was refused before it could enter. */
  void turnedAway(Ask ask, ApiError error) {
    var ending = new Ending(Outcome.REFUSED, error.status(), error.code(), Usage.UNKNOWN, 0);
    book.accept(new Decision(ask, null, "", "", 0, ending, loop.nanos()));
  }

  void enter(Ticket ticket) {
    var limit = keys.enter(ticket.ask.caller(), ticket.ask.names().tokens(), loop.nanos());
    if (limit != null) {
      refuse(ticket, limit);
      return;
    }
    ticket.metered = true;
    if (inFlight < limits.inFlightMax()) {
      admit(ticket);
    } else if (waiting.size() < limits.waitingMax()) {
      ticket.state = Ticket.State.WAITING;
      ticket.giveUp = loop.after(limits.patience(), () -> giveUp(ticket));
      waiting.add(ticket);
    } else {
      refuse(
          ticket,
          ApiError.tooMany("queue_full", "as many requests wait as may wait", retryAfter()));
    }
  }

  /** The request has failed where it was, and is to be placed elsewhere. */
  void again(Ticket ticket, int failed) {
    if (ticket.state != Ticket.State.PLACED) return;
    ticket.openRoute().close();
    ticket.request = ticket.request.avoiding(failed);
    place(ticket);
  }

  /** The request is over; the second time counts for nothing. */
  void leave(Ticket ticket, Ending ending) {
    if (ticket.state == Ticket.State.OVER) return;
    if (ticket.state == Ticket.State.WAITING) waiting.remove(ticket);
    if (ticket.giveUp != null) ticket.giveUp.cancel();
    ticket.state = Ticket.State.OVER;
    var route = ticket.route;
    if (ticket.metered) {
      int promptTokens = ticket.ask.names().tokens();
      long tokens = route == null ? 0 : ending.tokens(promptTokens);
      keys.leave(ticket.ask.caller(), promptTokens, tokens);
    }
    if (route != null) {
      if (!route.isClosed()) tell(route, ending.usage());
      route.close();
      inFlight--;
      measure();
    }
    book.accept(decision(ticket, route, ending));
    next();
  }

  private static void tell(Route route, Usage usage) {
    route.told(usage.promptTokens(), usage.cachedTokens());
  }

  /** Takes in those that wait, as far as there is room. */
  private void next() {
    while (inFlight < limits.inFlightMax() && !waiting.isEmpty()) {
      var ticket = waiting.remove();
      if (ticket.giveUp != null) ticket.giveUp.cancel();
      admit(ticket);
    }
  }

  private void admit(Ticket ticket) {
    var ask = ticket.ask;
    var lacking = roster.lacking(ask.model());
    if (!lacking.isEmpty() && lacking.size() == roster.posts().size()) {
      refuse(ticket, ApiError.unknownModel(ask.model()));
      return;
    }
    for (int id : lacking) ticket.request = ticket.request.avoiding(id);
    place(ticket);
  }

  private void place(Ticket ticket) {
    ticket.attempts++;
    var opened = open(ticket);
    if (opened.isEmpty()) {
      if (ticket.route == null) {
        refuse(ticket, nobody());
      } else {
        ticket.holder.refused(nobody());
      }
      return;
    }
    if (ticket.route == null) inFlight++;
    ticket.route = together(ticket, opened.get());
    ticket.state = Ticket.State.PLACED;
    ticket.holder.placed(placed(ticket.route));
  }

  /** Where the caller's requests failed before, only if nobody else is there. */
  private Optional<Route> open(Ticket ticket) {
    var request = ticket.request;
    for (int id : roster.doubted(ticket.ask.caller())) request = request.avoiding(id);
    var opened = router.open(request);
    return opened.isEmpty() && !request.equals(ticket.request)
        ? router.open(ticket.request)
        : opened;
  }

  /** A request that cannot be split is placed again, with only its decoder to choose from. */
  private Route together(Ticket ticket, Route route) {
    if (ticket.ask.splittable() || !(route.placement() instanceof Offload offload)) return route;
    route.close();
    RouteRequest alone = ticket.request;
    for (int id : router.instances()) {
      if (id != offload.decode()) alone = alone.avoiding(id);
    }
    return router.open(alone).orElseThrow();
  }

  private void giveUp(Ticket ticket) {
    if (ticket.state != Ticket.State.WAITING) return;
    waiting.remove(ticket);
    refuse(
        ticket, ApiError.unavailable("queue_timeout", "no worker was free in time", retryAfter()));
  }

  private static void refuse(Ticket ticket, ApiError error) {
    ticket.state = Ticket.State.REFUSED;
    ticket.holder.refused(error);
  }

  private static ApiError nobody() {
    return ApiError.unavailable("no_worker", "no worker can take it at the moment", RETRY_MIN);
  }

  private Placed placed(Route route) {
    var written = route.written();
    var decode = roster.post(written.decode());
    var prefill = written.prefill() < 0 ? null : roster.post(written.prefill());
    return new Placed(
        decode.id(),
        decode.worker(),
        written.prefill(),
        prefill == null ? null : prefill.worker(),
        prefill == null ? "" : prefill.engine(),
        written.routeClass(),
        written.reason(),
        written.promptTokens() - written.uncachedTokens(),
        written.predicted().colocateSeconds(),
        written.predicted().offloadSeconds());
  }

  private Decision decision(Ticket ticket, @Nullable Route route, Ending ending) {
    var written = route == null ? null : route.written();
    var decode = written == null ? "" : roster.name(written.decode());
    var prefill = written == null || written.prefill() < 0 ? "" : roster.name(written.prefill());
    return new Decision(
        ticket.ask, written, decode, prefill, ticket.attempts, ending, loop.nanos());
  }

  private void measure() {
    long now = loop.nanos();
    gapNanos += (now - leftNanos - gapNanos) / MEMORY;
    leftNanos = now;
  }

  /** How long it takes until those that wait now are through, as things have gone lately. */
  private Duration retryAfter() {
    var time = Duration.ofNanos((long) (gapNanos * (waiting.size() + 1)));
    if (time.compareTo(RETRY_MIN) < 0) return RETRY_MIN;
    return time.compareTo(RETRY_MAX) > 0 ? RETRY_MAX : time;
  }
}
