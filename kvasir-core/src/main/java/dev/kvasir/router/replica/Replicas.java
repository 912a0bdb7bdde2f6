package dev.kvasir.router.replica;

import dev.kvasir.Nullable;
import dev.kvasir.router.Router;
import dev.kvasir.router.limit.KeyMeter;
import dev.kvasir.router.limit.KeyRow;
import dev.kvasir.router.replica.ReplicaMessage.Home;
import dev.kvasir.router.replica.ReplicaMessage.Kind;
import dev.kvasir.router.replica.ReplicaMessage.WorkerRow;
import dev.kvasir.router.view.BookedLoad;
import dev.kvasir.router.worker.WorkerEntry;
import dev.kvasir.router.worker.WorkerTable;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/**
 * One of several gateways in front of the same workers: reports its bookings to the others, and
 * uses theirs in its own decisions.
 *
 * <pre>
 *   ALONE --hears its own message--> JOINED
 *     ^--the link breaks, or it has not heard one for the loss time--'
 * </pre>
 *
 * <p>Messages go to all gateways, including the sender: one that receives its own messages knows
 * that the others can receive them. A gateway that is alone ignores the bookings of the others, and
 * grants each key its limits divided by the last known number of gateways.
 *
 * <p>A gateway is known from its first whole message, and forgotten when it leaves or was not heard
 * for the loss time. One with different terms is refused: its bookings do not count.
 *
 * <p>Invariants: the load of the others on a worker is the sum of the last reports of all known
 * gateways. Reports of refused, lost or earlier started gateways do not count, and none while
 * alone.
 *
 * <p>Belongs to the loop of the flow.
 */
public final class Replicas {
  static final int GATEWAYS_MAX = 64;
  static final int NAME_CHARS_MAX = 256;

  /** Homes of sessions in one message; with a pace of 2 ms more than a gateway can place. */
  private static final int HOMES_MAX = 4_096;

  /** Takes messages to all gateways, this one included; may lose some. */
  @FunctionalInterface
  public interface Link {
    void publish(ReplicaMessage message);
  }

  /** Hears what becomes of the gateways. */
  public interface Listener {
    /** Messages arrive: the limits of keys hold for all gateways together. */
    void joined();

    /** No messages arrive: each key is granted its limits divided by that number. */
    void alone(int gateways);

    void came(String gateway);

    void went(String gateway);

    /** Reports that what it tells does not count, and why; again when the reason changes. */
    void refused(String gateway, String why);
  }

  /** Another gateway, as it told last. */
  private static final class Peer {
    final long epoch;
    long number;
    long receivedNanos;

    /** Flag set while nothing is known yet of what it was asked. */
    boolean isNew = true;

    final Map<String, WorkerRow> workers = new LinkedHashMap<>();
    final Map<String, KeyRow> keys = new LinkedHashMap<>();

    Peer(long epoch) {
      this.epoch = epoch;
    }
  }

  private final EventLoop loop;
  private final Router router;
  private final WorkerTable<?> workers;
  private final KeyMeter meter;
  private final ReplicaSettings settings;
  private final Link link;
  private final Listener listener;
  private final Map<String, Peer> peers = new LinkedHashMap<>();
  private final Map<String, String> refused = new LinkedHashMap<>();

  /** Those that are not heard any more, for what they told of keys. */
  private final LinkedHashMap<String, Peer> lost = new LinkedHashMap<>();

  private final Map<String, WorkerRow> published = new LinkedHashMap<>();
  private final Map<String, String> homes = new LinkedHashMap<>();

  /** Workers on which something was booked, or closed, since the last message. */
  private final LinkedHashSet<Integer> changed = new LinkedHashSet<>();

  /** Load that the known gateways have booked on each worker, summed up. */
  private final Map<String, BookedLoad> sums = new LinkedHashMap<>();

  private final Bursts bursts;
  private @Nullable Timer sending;
  private @Nullable Timer beating;
  private boolean joined;
  private boolean welcome;
  private int lastKnown;
  private long echoNanos;
  private long sent;
  private long received;
  private long homesDropped;

  public Replicas(
      EventLoop loop,
      Router router,
      WorkerTable<?> workers,
      KeyMeter meter,
      ReplicaSettings settings,
      Link link,
      Listener listener) {
    this.loop = loop;
    this.router = router;
    this.workers = workers;
    this.meter = meter;
    this.settings = settings;
    this.link = link;
    this.listener = listener;
    this.bursts = new Bursts(settings.pace().toNanos());
    this.lastKnown = settings.expected();
    router.onHomes(this::settled);
    workers.onEjection(this::changed);
    meter.divide(lastKnown, loop.nanos());
    beat();
  }

  /** Returns whether messages arrive. */
  public boolean isJoined() {
    return joined;
  }

  /** Returns how long a request that is placed now waits for the gateways before this one. */
  public Duration turn() {
    if (!joined || peers.isEmpty()) return Duration.ZERO;
    int rank = 0;
    for (var name : peers.keySet()) if (name.compareTo(settings.gateway()) < 0) rank++;
    return Duration.ofNanos(bursts.place(loop.nanos(), rank, peers.size()));
  }

  /** Returns how many gateways share the limits of keys: those known, or those known last. */
  public int gateways() {
    return joined ? peers.size() + 1 : lastKnown;
  }

  /** The other gateways that are known. */
  public List<String> peers() {
    return List.copyOf(peers.keySet());
  }

  /** Those that are refused, and why. */
  public Map<String, String> refused() {
    return Collections.unmodifiableMap(refused);
  }

  public long sent() {
    return sent;
  }

  public long received() {
    return received;
  }

  /** Homes of sessions that were not told, since there were too many at once. */
  public long homesDropped() {
    return homesDropped;
  }

  /** Something is booked on the worker, or no longer: the others are told soon. */
  public void changed(int worker) {
    changed.add(worker);
    changed();
  }

  /** Tells the others soon that what they are to know has changed. */
  public void changed() {
    if (sending != null) return;
    if (settings.pace().isZero()) send();
    else sending = loop.after(settings.pace(), this::send);
  }

  private void settled(String session, @Nullable Integer instance) {
    if (homes.size() >= HOMES_MAX && !homes.containsKey(session)) {
      homesDropped++;
      return;
    }
    var entry = instance == null ? null : workers.find(instance);
    homes.put(session, entry == null ? "" : entry.instance().name());
    if (instance == null) changed();
  }

  /** Tells the others that this one stops, and takes part no more. */
  public void leave() {
    if (sending != null) sending.cancel();
    if (beating != null) beating.cancel();
    sending = null;
    beating = null;
    publish(Kind.LEAVING, List.of(), List.of(), List.of());
  }

  private void beat() {
    beating = loop.after(settings.beat(), this::beat);
    long lossNanos = settings.lossTime().toNanos();
    for (var name : List.copyOf(peers.keySet())) {
      // While nothing at all is heard, nobody else is gone.
      if (echoNanos - peer(name).receivedNanos > lossNanos) forget(name);
    }
    if (joined && loop.nanos() - echoNanos > lossNanos) goAlone();
    sendWhole(Kind.WHOLE);
    // A worker that came since is known to the others, perhaps.
    for (var entry : workers.entries()) {
      var sum = sums.get(entry.instance().name());
      if (sum != null) router.bookedElsewhere(entry.id(), sum);
    }
  }

  /**
   * The link is known to be broken: what the others grant meanwhile is not heard, so that the
   * limits of keys are divided at once.
   */
  public void disconnected() {
    if (joined && beating != null) goAlone();
  }

  private void goAlone() {
    lastKnown = peers.size() + 1;
    joined = false;
    for (var name : List.copyOf(peers.keySet())) drop(name);
    meter.divide(lastKnown, loop.nanos());
    listener.alone(lastKnown);
  }

  private void send() {
    sending = null;
    var rows = new ArrayList<WorkerRow>();
    for (int id : changed) {
      var entry = workers.find(id);
      if (entry == null) continue;
      var row = row(entry);
      var before = published.get(row.worker());
      boolean isSame =
          before != null
              && before.ejections() == row.ejections()
              && before.load().hasSameRequests(row.load());
      if (isSame) continue;
      published.put(row.worker(), row);
      rows.add(row);
    }
    changed.clear();
    var keys = new ArrayList<KeyRow>();
    meter.changedRows(loop.nanos(), keys::add);
    if (rows.isEmpty() && keys.isEmpty() && homes.isEmpty()) return;
    publish(Kind.CHANGES, rows, keys, drainHomes());
  }

  private void sendWhole(Kind kind) {
    changed.clear();
    published.clear();
    for (var entry : workers.entries()) {
      var row = row(entry);
      published.put(row.worker(), row);
    }
    var keys = new ArrayList<KeyRow>();
    meter.rows(loop.nanos(), keys::add);
    var all = welcome ? allHomes() : drainHomes();
    welcome = false;
    publish(kind, List.copyOf(published.values()), keys, all);
  }

  private WorkerRow row(WorkerEntry<?> entry) {
    return new WorkerRow(entry.instance().name(), router.booked(entry.id()), entry.ownEjections());
  }

  private List<Home> drainHomes() {
    var rows = new ArrayList<Home>(homes.size());
    homes.forEach((session, worker) -> rows.add(new Home(session, worker)));
    homes.clear();
    return rows;
  }

  /** Also those that were told before, the latest of them, for one that has just come. */
  private List<Home> allHomes() {
    var all = new LinkedHashMap<String, String>();
    router.homes(
        HOMES_MAX,
        (session, instance) -> {
          var entry = workers.find(instance);
          if (entry != null) all.put(session, entry.instance().name());
        });
    all.putAll(homes);
    homes.clear();
    var rows = new ArrayList<Home>(all.size());
    all.forEach((session, worker) -> rows.add(new Home(session, worker)));
    return rows;
  }

  private void publish(Kind kind, List<WorkerRow> rows, List<KeyRow> keys, List<Home> at) {
    var terms = kind.isWhole() ? settings.terms() : List.<String>of();
    sent++;
    bursts.sent(sent, loop.nanos());
    link.publish(
        new ReplicaMessage(
            settings.gateway(), settings.epoch(), sent, kind, terms, rows, keys, at));
  }

  /** Handles a message, which may be its own. */
  public void receive(ReplicaMessage message) {
    received++;
    if (message.gateway().equals(settings.gateway())) receiveOwn(message);
    else if (message.kind() == Kind.LEAVING) leaveOf(message);
    else if (message.kind().isWhole()) receiveWhole(message);
    else receiveChanges(message);
  }

  private void receiveOwn(ReplicaMessage message) {
    if (message.epoch() > settings.epoch()) {
      refuse(message.gateway(), "another gateway has this name; give each one its own");
      return;
    }
    if (message.epoch() < settings.epoch() || beating == null) return;
    echoNanos = loop.nanos();
    bursts.echoed(message.number(), echoNanos);
    if (joined) return;
    joined = true;
    meter.unite();
    listener.joined();
    publishAll(Kind.HELLO);
  }

  private void leaveOf(ReplicaMessage message) {
    var peer = peers.get(message.gateway());
    if (peer != null && peer.epoch == message.epoch()) forget(message.gateway());
    refused.remove(message.gateway());
  }

  private void receiveWhole(ReplicaMessage message) {
    if (!joined) return;
    var name = message.gateway();
    var known = peers.get(name);
    if (known != null && known.epoch > message.epoch()) return;
    var why = differences(message.terms());
    if (known == null && why.isEmpty() && peers.size() + 1 >= GATEWAYS_MAX) {
      why = "there are " + GATEWAYS_MAX + " gateways already";
    }
    if (!why.isEmpty()) {
      if (known != null) forget(name);
      refuse(name, why);
      return;
    }
    refused.remove(name);
    if (known != null && known.epoch != message.epoch()) forget(name);
    boolean isNew = !peers.containsKey(name);
    var peer = peers.computeIfAbsent(name, _ -> peer(name, message.epoch()));
    if (message.number() <= peer.number) {
      if (isNew) peers.remove(name);
      return;
    }
    apply(peer, message);
    boolean isHello = message.kind() == Kind.HELLO;
    welcome |= isHello;
    if (isNew || isHello) publishAll(Kind.WHOLE);
    if (isNew) listener.came(name);
  }

  /** Publishes everything, for a gateway that has just joined. */
  private void publishAll(Kind kind) {
    loop.execute(
        () -> {
          if (beating != null) sendWhole(kind);
        });
  }

  private void receiveChanges(ReplicaMessage message) {
    var peer = peers.get(message.gateway());
    if (peer == null || peer.epoch != message.epoch() || message.number() <= peer.number) return;
    apply(peer, message);
  }

  private void apply(Peer peer, ReplicaMessage message) {
    boolean isFirst = peer.workers.isEmpty();
    peer.number = message.number();
    peer.receivedNanos = loop.nanos();
    if (message.kind().isWhole()) forgetMissing(peer, message);
    for (var row : message.workers()) {
      var before = peer.workers.put(row.worker(), row);
      count(row.worker(), before == null ? BookedLoad.NONE : before.load(), row.load());
      if (!isFirst && row.ejections() > (before == null ? 0 : before.ejections())) {
        workers.ejectedElsewhere(row.worker(), loop.nanos());
      }
    }
    for (var row : message.keys()) applyKey(peer, row);
    peer.isNew = false;
    for (var home : message.homes()) applyHome(home);
  }

  private void applyKey(Peer peer, KeyRow row) {
    var before = peer.keys.put(row.key(), row);
    if (before != null) meter.elsewhere(before, row, loop.nanos());
    else if (peer.isNew) meter.knownElsewhere(row, loop.nanos());
    else meter.begunElsewhere(row, loop.nanos());
  }

  /** Forgets what is missing in a whole message; the totals of keys stay, to be continued from. */
  private void forgetMissing(Peer peer, ReplicaMessage whole) {
    var gone = new LinkedHashMap<>(peer.workers);
    for (var row : whole.workers()) gone.remove(row.worker());
    for (var row : gone.values()) {
      peer.workers.remove(row.worker());
      count(row.worker(), row.load(), BookedLoad.NONE);
    }
    var idle = new LinkedHashMap<>(peer.keys);
    for (var row : whole.keys()) idle.remove(row.key());
    for (var row : idle.values()) if (row.concurrent() > 0) applyKey(peer, row.idle());
  }

  private void applyHome(Home home) {
    if (home.worker().isEmpty()) {
      router.endedElsewhere(home.session());
      return;
    }
    var entry = workers.find(home.worker());
    if (entry != null) router.settledElsewhere(home.session(), entry.id());
  }

  private void forget(String name) {
    drop(name);
    listener.went(name);
  }

  private void drop(String name) {
    var peer = peer(name);
    peers.remove(name);
    for (var row : peer.workers.values()) count(row.worker(), row.load(), BookedLoad.NONE);
    for (var row : List.copyOf(peer.keys.values())) applyKey(peer, row.idle());
    lost.remove(name);
    lost.put(name, peer);
    if (lost.size() > GATEWAYS_MAX) lost.pollFirstEntry();
  }

  private void refuse(String name, String why) {
    if (refused.size() >= GATEWAYS_MAX && !refused.containsKey(name)) return;
    if (!why.equals(refused.put(name, why))) listener.refused(name, why);
  }

  /** Returns the differences between the terms; empty if they are the same. */
  private String differences(List<String> theirs) {
    var differences = new ArrayList<String>();
    for (var term : theirs) {
      if (!settings.terms().contains(term)) differences.add("it has " + term);
    }
    for (var term : settings.terms()) {
      if (!theirs.contains(term)) differences.add("this one has " + term);
    }
    return String.join(", ", differences);
  }

  /** One of the others has booked something else on the worker than before. */
  private void count(String name, BookedLoad before, BookedLoad now) {
    bursts.addRemote(now.inFlight() - before.inFlight(), loop.nanos());
    var sum = sums.getOrDefault(name, BookedLoad.NONE).minus(before).plus(now);
    if (sum.equals(BookedLoad.NONE)) sums.remove(name);
    else sums.put(name, sum);
    var entry = workers.find(name);
    if (entry != null) router.bookedElsewhere(entry.id(), sum);
  }

  /** One that was lost and comes back goes on from the totals that it told. */
  private Peer peer(String name, long epoch) {
    var peer = new Peer(epoch);
    var before = lost.remove(name);
    if (before == null || before.epoch != epoch) return peer;
    peer.keys.putAll(before.keys);
    peer.isNew = false;
    peer.number = before.number;
    return peer;
  }

  private Peer peer(String name) {
    var peer = peers.get(name);
    if (peer == null) throw new IllegalArgumentException("no gateway " + name);
    return peer;
  }
}
