package dev.kvasir.sim;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.router.Route;
import dev.kvasir.router.Router;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.flow.FlowRequest;
import dev.kvasir.router.flow.RequestEnd;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import dev.kvasir.router.flow.RequestFlow;
import dev.kvasir.router.index.IndexSettings;
import dev.kvasir.router.limit.FlowCaller;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.router.worker.Submission;
import dev.kvasir.sim.clock.CacheNews;
import dev.kvasir.sim.clock.InstanceClock;
import dev.kvasir.sim.clock.OwnClock;
import dev.kvasir.sim.clock.ParallelTasks;
import dev.kvasir.sim.clock.RouterVisibility;
import dev.kvasir.sim.clock.SideBySide;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.ClusterSpec.Shared;
import dev.kvasir.sim.cluster.Outage;
import dev.kvasir.sim.cluster.RoutingSpec;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.result.InstanceResult;
import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RequestResults;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.result.Timeline;
import dev.kvasir.sim.step.StepQueue;
import dev.kvasir.sim.transfer.ClusterNetwork;
import dev.kvasir.sim.workload.ContentNames;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Workload;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.LongConsumer;

/** Runs the product, router and engines, in virtual time. */
public final class Simulator {
  private static final long INDEX_ENTRIES_MAX = 1L << 26;

  /** After so many events the router hears of the blocks, even if nobody looks. */
  private static final int STEPS_UNHEARD = 256;

  private final VirtualLoop loop = new VirtualLoop();
  private final ClusterSpec spec;
  private final boolean isCoupled;
  private final boolean isServedOnce;
  private final LatencyModel latency;
  private final Workload workload;
  private final List<SimGateway> gateways;
  private final ClusterNetwork network;
  private final List<SimInstance> instances = new ArrayList<>();
  private final List<CacheNews> news = new ArrayList<>();
  private final RequestResults results = new RequestResults();

  /** The requests that came and are not over, linked to each other in the order of arrival. */
  private @Nullable SimulatedRequest oldest;

  private @Nullable SimulatedRequest youngest;
  private final Timeline timeline = new Timeline();
  private final @Nullable SideBySide sideBySide;

  /** Flag for a router that bases no choice on anything that instances tell. */
  private final boolean isUnheeded;

  private final @Nullable Autoscaler autoscaler;
  private long steps;
  private long signalsNanos;
  private long ended;

  /** Requests that are to come, as far as that is known. */
  private long expected;

  /** A simulation of one event after the other. */
  public Simulator(ClusterSpec spec, LatencyModel latency, Workload workload) {
    this(spec, latency, workload, null);
  }

  /**
   * A simulation with the same outcome, in less time.
   *
   * @param runner runs instances side by side, where they share nothing; null for one after the
   *     other
   */
  public Simulator(
      ClusterSpec spec, LatencyModel latency, Workload workload, @Nullable ParallelTasks runner) {
    this.spec = spec;
    this.isCoupled =
        spec.routing().isCoupled() || !spec.outages().isEmpty() || spec.autoscaling() != null;
    this.isServedOnce = isServedOnce(spec);
    this.latency = latency;
    this.workload = workload;
    this.gateways = SimGateway.of(loop, spec, routerSettings(spec));
    this.network = new ClusterNetwork(loop, spec.roles().size(), spec.handOver().tokensPerMicro());
    var shared = spec.shared();
    boolean hasShared = shared.contains(Shared.TIERS) && !spec.instance().tiers().isEmpty();
    var tiers = hasShared ? new SharedTierPools(loop, spec.instance()) : null;
    var turns = new StepQueue();
    boolean isApart = runner != null && isApart();
    this.isUnheeded = isApart && visibility() == RouterVisibility.BLIND;
    var clocks = new ArrayList<OwnClock>();
    for (int index = 0; index < spec.roles().size(); index++) {
      // What instances do comes after all that comes to the cluster at the same time.
      var lane = loop.lane(1 + index);
      if (isApart) clocks.add(new OwnClock(lane, visibility()));
      var clock = isApart ? clocks.getLast() : new InstanceClock.Shared(lane);
      addInstance(index, clock, tiers, shared.contains(Shared.PROCESSOR) ? turns : new StepQueue());
    }
    var rule = spec.autoscaling();
    this.autoscaler =
        rule == null ? null : new Autoscaler(loop, rule, instances, gateways, this::underWay);
    var replication = spec.replication();
    if (replication.isShared()) SimGateway.share(loop, gateways, replication.delay());
    this.sideBySide =
        runner == null || !isApart
            ? null
            : new SideBySide(loop, clocks, news, runner, visibility());
  }

  private static RouterSettings routerSettings(ClusterSpec spec) {
    var settings = spec.routing().settings();
    return settings.withBlockTokens(spec.instance().blockTokens()).withIndex(index(spec));
  }

  /** Returns whether instances hear of nothing but what the router sends them. */
  private boolean isApart() {
    return spec.shared().isEmpty()
        && !spec.routing().placements().offloads()
        && !isCoupled()
        && !spec.replication().isShared()
        && workload.isOpen();
  }

  private RouterVisibility visibility() {
    var routing = spec.routing();
    boolean isBlind =
        routing.picks().isBlind()
            && routing.awareness() == RoutingSpec.Awareness.BLIND
            && routing.flow().admission() == null
            && workload.isWithoutSessions();
    return isBlind ? RouterVisibility.BLIND : RouterVisibility.LOOKING;
  }

  /** An index that can know all blocks of the cluster, however many those are. */
  private static IndexSettings index(ClusterSpec spec) {
    var usual = spec.routing().settings().index();
    long blocks = 0;
    for (int i = 0; i < spec.roles().size(); i++) {
      blocks += spec.instance(i).blocks();
      for (var tier : spec.instance(i).tiers()) blocks += tier.blocks();
    }
    long entries = Math.min(INDEX_ENTRIES_MAX, blocks);
    return usual.withEntries((int) Math.max(usual.entriesMax(), entries));
  }

  private void addInstance(
      int index, InstanceClock clock, @Nullable SharedTierPools tiers, StepQueue turns) {
    var group = spec.group(index);
    var own = group == null ? latency : group.latency();
    var instance = new SimInstance(index, clock, spec.instance(index), own, tiers, turns);
    instances.add(instance);
    var described =
        new Instance(
            "instance_" + index,
            spec.roles().get(index),
            "sim",
            instance.pools().getFirst().total());
    for (var gateway : gateways) {
      gateway.add(described, instance);
      if (group != null && !group.model().isEmpty()) gateway.serves(index, group.model());
    }
    if (spec.routing().awareness() == RoutingSpec.Awareness.CACHE_AWARE) listen(instance);
  }

  private void listen(SimInstance instance) {
    for (var events : instance.events()) {
      news.add(
          new CacheNews(
              events,
              published -> {
                for (int i = 0; i < gateways.size(); i++) {
                  gateways.get(i).onEvents(instance.index(), published);
                }
              }));
    }
  }

  /** Runs to the end; {@code progress} hears of each request that is over. */
  public RunResult run(LongConsumer progress) {
    return run(Long.MAX_VALUE, progress);
  }

  /** Runs until nothing is left to do, or until that time. */
  public RunResult run(long horizonNanos, LongConsumer progress) {
    begin();
    long reported = 0;
    while (advance(horizonNanos)) {
      if (ended == reported) continue;
      reported = ended;
      progress.accept(reported);
    }
    return result();
  }

  /** Does one event, or what instances can do side by side; false if nothing is left to do. */
  private boolean advance(long horizonNanos) {
    var apart = sideBySide;
    boolean isEndless =
        !spec.outages().isEmpty() || spec.replication().isShared() || autoscaler != null;
    if (isEndless && expected == 0 && underWay() == 0) return false;
    if (apart == null) return loop.nextNanos() <= horizonNanos && step();
    long next = apart.nextNanos();
    if (next > horizonNanos || next == Long.MAX_VALUE) return false;
    apart.advance(horizonNanos);
    return true;
  }

  /** The next event; false if there is none. */
  boolean step() {
    if (++steps % STEPS_UNHEARD == 0) deliverEvents();
    return loop.step();
  }

  /** The first request is on its way; whoever steps can look between any two events. */
  void begin() {
    for (var outage : spec.outages()) {
      loop.after(outage.from(), () -> die(outage));
    }
    if (autoscaler != null) autoscaler.begin();
    var first = workload.next();
    if (first != null) expect(first);
  }

  private void die(Outage outage) {
    var instance = instance(outage.instance());
    instance.die();
    for (var request : open()) request.cut(instance);
    // The router learns of it as a gateway does: by what fails there, and by two probes.
    var pace = spec.routing().signalInterval();
    for (int probe = 1; probe <= 2; probe++) {
      loop.after(pace.multipliedBy(probe), () -> probe(instance));
    }
    var until = outage.until();
    int life = instance.life();
    if (until != null) loop.after(until.minus(outage.from()), () -> comeBack(instance, life));
  }

  private void comeBack(SimInstance instance, int life) {
    if (instance.life() != life) return;
    instance.comeBack();
    probe(instance);
  }

  /** Probes of an instance that is back go on until it gets requests again. */
  private void probe(SimInstance instance) {
    boolean isReady = true;
    for (var gateway : gateways) isReady &= gateway.probe(instance, loop.nanos());
    if (!instance.isUp() || isReady) return;
    var pace = spec.routing().signalInterval();
    var rest = spec.routing().flow().ejection().restTime();
    loop.after(pace.isZero() ? rest : pace, () -> probe(instance));
  }

  private void expect(Request request) {
    expected++;
    loop.afterNanos(
        request.arrivalNanos() - loop.nanos(),
        () -> {
          expected--;
          var next = workload.next();
          if (next != null) expect(next);
          arrive(request);
        });
  }

  private void arrive(Request request) {
    int blockTokens = spec.instance().blockTokens();
    var names =
        isServedOnce
            ? ContentNames.servedOnce(request, blockTokens)
            : ContentNames.of(request, blockTokens);
    var gateway = gateways.get(results.size() % gateways.size());
    int number = results.expect(request);
    var simulated = new SimulatedRequest(this, gateway.flow(), number, request, names);
    simulated.older = youngest;
    if (youngest == null) oldest = simulated;
    else youngest.younger = simulated;
    youngest = simulated;
    timeline.change(micros(), 1, 0);
    simulated.arrive();
  }

  /** The router gets to know how the instances are, before it places a request. */
  void look() {
    if (isUnheeded) return;
    deliverEvents();
    reportSignals();
  }

  /** Returns whether the flow need not hear of first tokens. */
  boolean isUnheeded() {
    return isUnheeded;
  }

  /** Returns whether the outcome of one request may depend on when another one ends. */
  boolean isCoupled() {
    return isCoupled;
  }

  FlowCaller caller(Request request) {
    var tenant = request.caller().tenant();
    return new FlowCaller(tenant, tenant, spec.routing().tenants().limits(tenant));
  }

  Submission submission(Request request, ContentNames names) {
    List<BlockHash> prefix = List.of();
    if (spec.routing().awareness() == RoutingSpec.Awareness.CACHE_AWARE) {
      int blocks = request.promptTokens() / spec.instance().blockTokens();
      prefix = names.first(Math.min(blocks, routable(names.shareable())));
    }
    var sloClass = SloClass.of(request.caller().sloClass());
    var session = request.turn().session();
    var routeRequest =
        new RouteRequest(session, request.promptTokens(), prefix, sloClass, List.of());
    // Equal instances have one model, whatever a request calls it.
    var model = spec.groups().isEmpty() ? "" : request.caller().model();
    return new Submission(model, routeRequest, true, false, Submission.NO_NEEDS, 0);
  }

  /**
   * Returns how many blocks the router has to know of, where others ask for that many: it looks at
   * the ends of strides, and so at all of the last one.
   */
  private int routable(int shareable) {
    int stride = spec.routing().settings().index().stride();
    return shareable > Integer.MAX_VALUE - stride
        ? shareable
        : Math.ceilDiv(shareable, stride) * stride;
  }

  /**
   * Returns whether only one instance ever asks for the blocks of a request that no other request
   * shares, and planning takes no time that depends on what changes in the memory.
   */
  private static boolean isServedOnce(ClusterSpec spec) {
    return spec.outages().isEmpty()
        && spec.shared().isEmpty()
        && !spec.routing().placements().offloads()
        && spec.instance().engine().planning().nanosPerLook() == 0;
  }

  /** Delivers the KV events of the instances to the router. */
  private void deliverEvents() {
    for (int i = 0; i < news.size(); i++) {
      news.get(i).gather();
      news.get(i).handOver();
    }
  }

  /** Reports the signals of the instances when the interval has passed. */
  private void reportSignals() {
    if (loop.nanos() - signalsNanos < spec.routing().signalInterval().toNanos()) return;
    signalsNanos = loop.nanos();
    for (var instance : instances) {
      var load = instance.load();
      var signals =
          new EngineSignals(
              load.waiting(),
              load.running(),
              load.kvUtilisation(),
              load.hitRate(),
              load.blocks() - load.blocksUsed(),
              EngineSignals.UNKNOWN);
      for (var gateway : gateways) gateway.updateSignals(instance.index(), signals);
    }
  }

  VirtualLoop loop() {
    return loop;
  }

  /** Of the first gateway. */
  RequestFlow flow() {
    return gateways.getFirst().flow();
  }

  /** Of the first gateway. */
  Router router() {
    return gateways.getFirst().router();
  }

  List<SimGateway> gateways() {
    return Collections.unmodifiableList(gateways);
  }

  /** Returns the model of how long things take for a request that nobody took yet. */
  LatencyModel latency() {
    return latency;
  }

  /** From the arrival of a prompt until it is placed; unlike servers take that time themselves. */
  long queueingMicros(int promptTokens) {
    return spec.groups().isEmpty() ? latency.queueingMicros(promptTokens) : 0;
  }

  /** Takes a prompt in at an instance. */
  void enter(SimInstance at, int promptTokens, Runnable submit) {
    long wait = spec.groups().isEmpty() ? 0 : at.latency().queueingMicros(promptTokens);
    if (wait == 0) at.enter(promptTokens, submit);
    else at.clock().loop().after(Duration.ofNanos(wait * 1000), submit);
  }

  List<SimInstance> instances() {
    return Collections.unmodifiableList(instances);
  }

  /** Requests that came and are not over. */
  long underWay() {
    return results.size() - ended;
  }

  SimInstance instance(int index) {
    return instances.get(index);
  }

  Timeline timeline() {
    return timeline;
  }

  /** Carries the K and V of so many tokens from one instance to another. */
  void handOver(int from, int to, int tokens, Runnable done) {
    int carried = carried(from, tokens);
    loop.after(spec.handOver().latency(), () -> network.carry(from, to, carried, done));
  }

  /** Tokens of another model count by their bytes, in tokens of the first group. */
  private int carried(int from, int tokens) {
    var group = spec.group(from);
    if (group == null || group.tokenBytes() == 0) return tokens;
    long usual = spec.groups().getFirst().tokenBytes();
    return usual == 0 ? tokens : (int) Math.ceilDiv(tokens * group.tokenBytes(), usual);
  }

  /** The requests that are not over, as they are now. */
  private List<SimulatedRequest> open() {
    var open = new ArrayList<SimulatedRequest>();
    for (var each = oldest; each != null; each = each.younger) open.add(each);
    return open;
  }

  private void unlink(SimulatedRequest request) {
    var before = request.older;
    var behind = request.younger;
    if (before == null) oldest = behind;
    else before.younger = behind;
    if (behind == null) youngest = before;
    else behind.older = before;
  }

  /** The request is over; what its caller does next may be another one. */
  void over(
      SimulatedRequest simulated, FlowRequest flowing, Request request, RequestEnding ending) {
    unlink(simulated);
    results.record(simulated.number(), simulated.result());
    // What waits may be placed now.
    if (isCoupled()) look();
    var verdict = verdict(ending);
    int outputTokens = ending == RequestEnding.COMPLETED ? request.outputTokens() : 0;
    simulated
        .flow()
        .over(flowing, new RequestEnd(verdict, Route.UNREPORTED, Route.UNREPORTED, outputTokens));
    ended++;
    if (ending != RequestEnding.COMPLETED) return;
    var next = workload.after(request, loop.nanos());
    if (next == null) return;
    expected++;
    loop.after(
        Duration.ofNanos(next.arrivalNanos() - loop.nanos()),
        () -> {
          expected--;
          arrive(next);
        });
  }

  private static Verdict verdict(RequestEnding ending) {
    return switch (ending) {
      case COMPLETED -> Verdict.ANSWERED;
      case FAILED -> Verdict.BROKEN;
      case LENGTH_CAPPED, TIMED_OUT, DROPPED, REJECTED, UNFINISHED -> Verdict.NONE;
    };
  }

  private long micros() {
    return loop.nanos() / 1000;
  }

  private long presentMicros(int instance, long endMicros) {
    if (autoscaler == null) return endMicros;
    return autoscaler.presentNanos(instance, endMicros * 1000) / 1000;
  }

  RunResult result() {
    var apart = sideBySide;
    long endMicros = (apart == null ? loop.nanos() : apart.meet()) / 1000;
    for (var request : open()) results.record(request.number(), request.result());
    var figures = new ArrayList<InstanceResult>();
    var timelines = new ArrayList<>(List.of(timeline));
    for (var instance : instances) {
      var figure = instance.result(spec.roles().get(instance.index()));
      figures.add(figure.present(presentMicros(instance.index(), endMicros)));
      timelines.add(instance.timeline());
    }
    return new RunResult(results, figures, endMicros, Timeline.sum(timelines, endMicros), groups());
  }

  private List<RunResult.Group> groups() {
    var groups = new ArrayList<RunResult.Group>();
    int first = 0;
    for (var each : spec.groups()) {
      groups.add(
          new RunResult.Group(each.name(), each.model(), first, each.count(), each.tokenBytes()));
      first += each.count();
    }
    return groups;
  }
}
