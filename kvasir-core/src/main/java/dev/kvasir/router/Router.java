package dev.kvasir.router;

import dev.kvasir.Nullable;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.router.index.PrefixIndex;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementQuery;
import dev.kvasir.router.placement.RouteClass;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.BookedLoad;
import dev.kvasir.router.view.ClusterView;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Estimates;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.Load;
import dev.kvasir.router.view.PrefixMatch;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.ObjIntConsumer;

/**
 * Places requests on the instances of a fleet, and tracks the load of those under way.
 *
 * <p>Choosing and booking are one step, so the next request sees the new load. Belongs to one loop,
 * live or simulated.
 */
public final class Router {
  /**
   * Number of requests that other gateways may place at one instance in a burst. If only one is
   * counted, the TTFT p90 of four gateways is 4 % above that of one gateway; with this many, it is
   * 2 % above.
   */
  private static final double BURST_REQUESTS = 2.5;

  private final EventLoop loop;
  private final RouterSettings settings;
  private final PickPolicy picks;
  private final PlacementPolicy placements;
  private final PrefixIndex index;
  private final Sessions sessions;
  private final Speeds speeds;
  private final List<Member> members = new ArrayList<>();

  /** The ready members that decode; null where that is to be found out again. */
  private @Nullable List<Member> decoders;

  private HomeListener homeListener = (_, _) -> {};
  private int added;
  private long opened;

  public Router(
      EventLoop loop, RouterSettings settings, PickPolicy picks, PlacementPolicy placements) {
    this.loop = loop;
    this.settings = settings;
    this.picks = picks;
    this.placements = placements;
    this.index = new PrefixIndex(settings.index());
    this.sessions = new Sessions(settings.sessions());
    this.speeds = new Speeds(settings.start());
  }

  /** Hears where sessions are at home. */
  @FunctionalInterface
  public interface HomeListener {
    /** The session is at home there from now on; null where it is over. */
    void changed(String session, @Nullable Integer instance);
  }

  /** Adds an instance, ready to be used; its id is never given again. */
  public int add(Instance instance) {
    int id = added;
    members.add(new Member(id, index.add(id), instance));
    added++;
    decoders = null;
    return id;
  }

  /** Takes the instance out; what is under way there ends on its own. */
  public void remove(int id) {
    members.remove(member(id));
    decoders = null;
    index.remove(id);
    sessions.evict(id);
  }

  public void become(int id, Availability availability) {
    member(id).become(availability);
    decoders = null;
  }

  public Availability availability(int id) {
    return member(id).availability();
  }

  /** Updates the load that the engine of the instance reports; ignores an instance that is gone. */
  public boolean updateSignals(int id, EngineSignals signals) {
    var member = find(id);
    if (member != null) member.updateSignals(signals, loop.nanos());
    return member != null;
  }

  /** Returns whether the engine's last report of its load is recent enough to be used. */
  public boolean isFresh(int id) {
    return member(id).isFresh(loop.nanos(), settings.freshness().toNanos());
  }

  /** Returns what the engine of the instance reported lately; nothing if that is too old. */
  public EngineSignals signals(int id) {
    return fresh(member(id), loop.nanos());
  }

  /** Returns whether an instance that decodes may take the request. */
  public boolean hasDecoder(RouteRequest request) {
    for (int i = 0; i < members.size(); i++) {
      if (canDecode(members.get(i), request)) return true;
    }
    return false;
  }

  private static boolean canDecode(Member member, RouteRequest request) {
    return canDecode(member) && !isAvoided(member, request);
  }

  private static boolean canDecode(Member member) {
    return member.availability() == Availability.READY && member.instance().role().decodes();
  }

  /** Most requests avoid nobody, and should cost nothing for it. */
  private static boolean isAvoided(Member member, RouteRequest request) {
    return !request.avoided().isEmpty() && request.avoided().contains(member.id());
  }

  /** Blocks came to the instance, or went; answers whether the instance is known. */
  public boolean on(int id, List<KvEvent> events) {
    return index.on(id, events);
  }

  /** The instance was restarted, with an empty cache. */
  public void restarted(int id) {
    index.forget(id);
  }

  /**
   * The instance cannot be reached. Only its events show whether it lost its cache; of one that
   * sends none, the index is dropped.
   */
  public void unreachable(int id) {
    index.forgetRouted(id);
  }

  public PrefixIndex index() {
    return index;
  }

  /** Returns estimates of the fleet's speed, as far as it is known. */
  public Estimates estimates() {
    return speeds.estimates();
  }

  /** Returns the number of sessions that have a home. */
  public int sessions() {
    return sessions.size();
  }

  /** The session is over; the instance where it was at home, if it was. */
  public Optional<Integer> endSession(String session) {
    homeListener.changed(session, null);
    return Optional.ofNullable(sessions.end(session));
  }

  /** Has the listener hear where this router settles sessions. */
  public void onHomes(HomeListener listener) {
    homeListener = listener;
  }

  /** The homes of the sessions used last, up to a limit. */
  public void homes(int most, ObjIntConsumer<String> each) {
    sessions.latest(most, each);
  }

  /** Another gateway has sent a request of the session to the instance. */
  public void settledElsewhere(String session, int id) {
    sessions.settle(session, id, loop.nanos());
  }

  /** Another gateway has learned that the session is over. */
  public void endedElsewhere(String session) {
    var _ = sessions.end(session);
  }

  /** Returns the load that this router has booked on the instance. */
  public BookedLoad booked(int id) {
    return member(id).ledger().booked(loop.nanos());
  }

  /** The routers of other gateways have booked so much on the instance by now. */
  public void bookedElsewhere(int id, BookedLoad load) {
    member(id).ledger().elsewhere(load);
  }

  /** Returns the number of routes opened so far. */
  public long opened() {
    return opened;
  }

  /** The ids of all instances, in the order they came. */
  public List<Integer> instances() {
    return members.stream().map(Member::id).toList();
  }

  public Load load(int id) {
    long now = loop.nanos();
    return load(member(id), now);
  }

  /** Returns what a policy would see of the instances that may take the request. */
  public ClusterView view(RouteRequest request) {
    long now = loop.nanos();
    index.settle(now);
    var match = index.match(request.prefix());
    var views = new InstanceView[members.size()];
    int count = 0;
    for (int i = 0; i < members.size(); i++) {
      var member = members.get(i);
      if (member.availability() != Availability.READY) continue;
      if (isAvoided(member, request)) continue;
      views[count++] = view(member, request, match, now);
    }
    var present = Arrays.asList(views).subList(0, count);
    return new ClusterView(now, settings.blockTokens(), present, speeds.estimates());
  }

  private InstanceView view(Member member, RouteRequest request, PrefixMatch match, long now) {
    var cached = usable(request, match.at(member.place()), member.place());
    return member.view(fresh(member, now), load(member, now), cached, speeds.estimates());
  }

  private CachedBlocks usable(RouteRequest request, CachedBlocks cached, int place) {
    return index.usable(
        place, cached, request.prefix(), request.promptTokens(), settings.blockTokens());
  }

  /** Chooses and books; empty where no instance may take the request. */
  public Optional<Route> open(RouteRequest request) {
    var cluster = isBlind(request) ? viewOfNext(request) : view(request);
    var decoders = decoders(cluster);
    if (decoders.instances().isEmpty()) return Optional.empty();
    var decode = isBlind(request) ? decoders.instances().getFirst() : choose(request, decoders);
    var query = query(request, decode, cluster);
    var route = new Route(this, opened++, query, placements.place(query));
    sessions.settle(request.session(), decode.id(), cluster.nanos());
    if (!request.session().isEmpty()) homeListener.changed(request.session(), decode.id());
    speeds.opened(cluster.uncachedTokens(request, decode));
    return Optional.of(route);
  }

  /** Returns whether the place of the request depends on nothing but which instances are there. */
  private boolean isBlind(RouteRequest request) {
    return picks.isBlind() && !placements.offloads() && request.session().isEmpty();
  }

  /** A view of the one instance that a blind policy picks: the others need not be looked at. */
  private ClusterView viewOfNext(RouteRequest request) {
    long now = loop.nanos();
    var candidates = request.avoided().isEmpty() ? decoders() : decoders(request);
    List<InstanceView> picked = List.of();
    if (!candidates.isEmpty()) {
      var member = candidates.get(picks.pickBlindly(candidates.size()));
      index.settle(now);
      picked = List.of(view(member, request, index.match(request.prefix()), now));
    }
    return new ClusterView(now, settings.blockTokens(), picked, speeds.estimates());
  }

  /** The instances that may take a request which avoids none. */
  private List<Member> decoders() {
    var known = decoders;
    if (known != null) return known;
    var found = new ArrayList<Member>();
    for (var member : members) if (canDecode(member)) found.add(member);
    decoders = found;
    return found;
  }

  private List<Member> decoders(RouteRequest request) {
    var found = new ArrayList<Member>();
    for (var member : members) if (canDecode(member, request)) found.add(member);
    return found;
  }

  /**
   * Returns whether the request would go to the same instance although {@link #BURST_REQUESTS}
   * others of usual length were placed there before it.
   */
  public boolean isDecided(RouteRequest request) {
    var decoders = decoders(view(request));
    if (decoders.instances().isEmpty()) return true;
    double usualSeconds = speeds.meanTokens() / speeds.estimates().workPerSecond();
    return picks.leadSeconds(request, decoders) > BURST_REQUESTS * usualSeconds;
  }

  private PlacementQuery query(RouteRequest request, InstanceView decode, ClusterView cluster) {
    int uncached = cluster.uncachedTokens(request, decode);
    var routeClass = RouteClass.of(uncached, request.promptTokens(), settings.classes());
    return new PlacementQuery(request, routeClass, decode, cluster);
  }

  private static ClusterView decoders(ClusterView cluster) {
    if (areAllDecoders(cluster.instances())) return cluster;
    var decoders = cluster.instances().stream().filter(view -> view.role().decodes()).toList();
    return new ClusterView(cluster.nanos(), cluster.blockTokens(), decoders, cluster.estimates());
  }

  /** Returns whether none has to be left out, as in most fleets. */
  private static boolean areAllDecoders(List<InstanceView> instances) {
    for (int i = 0; i < instances.size(); i++) {
      if (!instances.get(i).role().decodes()) return false;
    }
    return true;
  }

  /** Home, unless it is gone or the policy would rather leave it; else a pick. */
  private InstanceView choose(RouteRequest request, ClusterView cluster) {
    var home = home(request, cluster);
    return home != null && placements.staysHome(query(request, home, cluster), settings.sessions())
        ? home
        : picks.pick(request, cluster);
  }

  private @Nullable InstanceView home(RouteRequest request, ClusterView cluster) {
    if (request.session().isEmpty()) return null;
    var id = sessions.home(request.session(), cluster.nanos());
    if (id == null) return null;
    for (var view : cluster.instances()) {
      if (view.id() == id) return view;
    }
    return null;
  }

  private Load load(Member member, long now) {
    long freshNanos = settings.freshness().toNanos();
    return member.load(now, freshNanos, speeds.meanTokens(), placements.targets());
  }

  private EngineSignals fresh(Member member, long now) {
    return member.signals(now, settings.freshness().toNanos());
  }

  /** The time of its loop. */
  public long nanos() {
    return loop.nanos();
  }

  Timer after(Duration delay, Runnable task) {
    return loop.after(delay, task);
  }

  /** The request will leave its blocks on the instance. */
  void sent(Member member, RouteRequest request, CachedBlocks cached) {
    int blocks = member.instance().blocks();
    index.sent(member.place(), request.prefix(), blocks, cached.total(), loop.nanos());
  }

  void prefilled(Member member, long work, long nanos) {
    speeds.prefilled(member, work, nanos, members);
  }

  void transferred(int tokens, long nanos) {
    speeds.transferred(tokens, nanos, members);
  }

  Member member(int id) {
    var member = find(id);
    if (member == null) throw new IllegalArgumentException("no instance " + id);
    return member;
  }

  private @Nullable Member find(int id) {
    for (int i = 0; i < members.size(); i++) {
      if (members.get(i).id() == id) return members.get(i);
    }
    return null;
  }
}
