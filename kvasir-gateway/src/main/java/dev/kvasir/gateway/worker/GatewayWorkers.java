package dev.kvasir.gateway.worker;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.net.worker.WorkerReport;
import dev.kvasir.router.Router;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.worker.EjectionRules;
import dev.kvasir.router.worker.Need;
import dev.kvasir.router.worker.WorkerEntry;
import dev.kvasir.router.worker.WorkerTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The workers of a gateway and what they tell; belongs to the loop of the router. */
public final class GatewayWorkers {
  private static final System.Logger LOG = System.getLogger(GatewayWorkers.class.getName());

  /** The first probes of a process are slow for its own sake. */
  private static final int PROBES_MIN = 2;

  private final Router router;
  private final WorkerTable<LiveWorker> table;

  private Set<String> unlikeLogged = Set.of();

  /** Read on other loops as well. */
  private volatile ModelNames modelNames = ModelNames.NONE;

  public GatewayWorkers(Router router, EjectionRules rules) {
    this.router = router;
    this.table = new WorkerTable<>(router, rules, new Watch());
  }

  /** Logs what becomes of workers, and has their events checked when they come back. */
  private static final class Watch implements WorkerTable.Listener<LiveWorker> {
    @Override
    public void changed(WorkerEntry<LiveWorker> entry, Availability before) {
      var worker = entry.worker();
      LOG.log(INFO, "worker {0} is {1}, was {2}", worker.name(), entry.availability(), before);
      var events = worker.events();
      if (before == Availability.DOWN && events != null) events.check();
    }

    @Override
    public void withheld(WorkerEntry<LiveWorker> entry, int ready) {
      LOG.log(
          INFO,
          "worker {0} fails and is not ejected: only {1} others are ready",
          entry.worker().name(),
          ready);
    }

    @Override
    public void lacks(WorkerEntry<LiveWorker> entry, Need need) {
      LOG.log(
          INFO,
          "worker {0} could not answer a request with {1} that another one could: such requests go"
              + " to others for a while",
          entry.worker().name(),
          need.label());
    }
  }

  public WorkerTable<LiveWorker> table() {
    return table;
  }

  WorkerEntry<LiveWorker> add(Worker worker, long nowNanos) {
    var handover =
        switch (worker.connector()) {
          case NONE, NIXL -> WorkerEntry.Handover.AFTER;
          case MOONCAKE, SGLANG -> WorkerEntry.Handover.BESIDE;
        };
    return table.add(worker.instance(), handover, new LiveWorker(worker), nowNanos);
  }

  /**
   * Has these workers and no others: one that is not among them gets nothing new, and goes when it
   * has ended what it has.
   *
   * @return those that were not there before
   */
  public List<WorkerEntry<LiveWorker>> have(List<Worker> workers, long nowNanos) {
    for (var entry : List.copyOf(table.entries())) {
      boolean stays = workers.contains(entry.worker().config());
      if (stays && entry.isLeaving()) table.restore(entry.id());
      if (!stays && !entry.isLeaving()) table.retire(entry.id());
    }
    var known = entries().stream().map(entry -> entry.worker().config()).toList();
    var added = new ArrayList<WorkerEntry<LiveWorker>>();
    for (var worker : workers) if (!known.contains(worker)) added.add(add(worker, nowNanos));
    return added;
  }

  /** Forgets those that were to go and have ended what they had; answers who they were. */
  public List<Integer> sweep() {
    var gone = table.sweep();
    for (var entry : gone) LOG.log(INFO, "worker {0} is gone", entry.worker().name());
    if (!gone.isEmpty()) nameModels();
    return gone.stream().map(WorkerEntry::id).toList();
  }

  public List<WorkerEntry<LiveWorker>> entries() {
    return table.entries();
  }

  /** One for each name: a worker that goes makes way for another one of its name. */
  public List<WorkerEntry<LiveWorker>> shown() {
    return entries().stream().filter(entry -> entry(entry.worker().name()).equals(entry)).toList();
  }

  public WorkerEntry<LiveWorker> entry(int id) {
    return table.entry(id);
  }

  public WorkerEntry<LiveWorker> entry(String worker) {
    for (var entry : entries().reversed()) {
      if (entry.worker().name().equals(worker)) return entry;
    }
    throw new IllegalArgumentException("no worker is called " + worker);
  }

  /** Returns the worker's name; a request may end after the worker it failed at is gone. */
  public String name(int id) {
    var entry = table.find(id);
    return entry == null ? "gone" : entry.worker().name();
  }

  public int ready() {
    return table.ready();
  }

  void update(int id, WorkerReport report) {
    var entry = table.find(id);
    if (entry == null) return;
    entry.worker().update(report);
    router.updateSignals(id, report.signals());
    // A short prompt is no full block of some engines, which then tell no event of it.
    if (report.blockTokens() > 0) router.index().assumeGrain(id, report.blockTokens());
  }

  /** Returns the latest report of the worker; an empty one if that is too old to be believed. */
  public WorkerReport report(WorkerEntry<LiveWorker> entry) {
    return router.isFresh(entry.id()) ? entry.worker().report() : WorkerReport.NONE;
  }

  void probeSucceeded(int id, long nowNanos) {
    table.probeSucceeded(id, nowNanos);
    var entry = table.find(id);
    if (entry == null) return;
    var worker = entry.worker();
    if (worker.isMissed()) LOG.log(WARNING, "worker {0} answers probes again", worker.name());
    worker.answers();
  }

  /**
   * Tells why once it is down: whoever runs the workers is to hear of it without asking. One that
   * was taken away may stop as soon as it likes.
   */
  void probeFailed(int id, String why, long nowNanos) {
    table.probeFailed(id, nowNanos);
    var entry = table.find(id);
    if (entry == null) return;
    var worker = entry.worker();
    boolean isLost = worker.fails(why) >= PROBES_MIN && entry.availability() == Availability.DOWN;
    if (!isLost || worker.isMissed() || entry.isLeaving()) return;
    worker.misses();
    LOG.log(WARNING, "worker {0} is down, and probed on: {1}", worker.name(), why);
  }

  void serves(int id, Map<String, String> models) {
    var entry = table.find(id);
    if (entry == null || entry.worker().models().equals(models)) return;
    entry.worker().serves(models);
    table.serves(id, List.copyOf(models.keySet()), ModelNames.contextTokens(models.values()));
    nameModels();
  }

  private void nameModels() {
    var unlike = unlikeModels();
    for (var model : unlike) {
      if (unlikeLogged.contains(model)) continue;
      LOG.log(
          WARNING,
          "workers serve other models under the name {0}, by what each tells as its root: answers"
              + " will differ from worker to worker; give each model a name of its own, and see"
              + " kvasir doctor --worker",
          model);
    }
    unlikeLogged = unlike;
    modelNames = ModelNames.of(entries().stream().map(entry -> entry.worker().models()).toList());
  }

  /** The names under which workers serve other models than each other. */
  public Set<String> unlikeModels() {
    var roots = new TreeMap<String, String>();
    var unlike = new TreeSet<String>();
    for (var entry : entries()) {
      entry
          .worker()
          .models()
          .forEach(
              (id, json) -> {
                var root = ModelNames.root(json);
                if (root.isEmpty()) return;
                var before = roots.putIfAbsent(id, root);
                if (before != null && !before.equals(root)) unlike.add(id);
              });
    }
    return unlike;
  }

  /** Returns what the models that requests name mean for the names of blocks; from any thread. */
  public ModelNames modelNames() {
    return modelNames;
  }

  /** The worker has told by which name others fetch from it; another name is another process. */
  void named(int id, String engine) {
    var entry = table.find(id);
    if (entry == null) return;
    var before = entry.worker().engine();
    if (!before.isEmpty() && !before.equals(engine)) router.restarted(id);
    entry.worker().named(engine);
  }

  /** All models, and what the first worker that has it tells of each. */
  public Map<String, String> models() {
    var models = new LinkedHashMap<String, String>();
    for (var entry : entries()) entry.worker().models().forEach(models::putIfAbsent);
    return models;
  }
}
