package dev.kvasir.live.gateway;

import static java.lang.System.Logger.Level.INFO;

import dev.kvasir.Nullable;
import dev.kvasir.live.http.Caller;
import dev.kvasir.router.Router;
import dev.kvasir.router.view.Availability;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The workers and what is known of each; belongs to the loop of the router. */
final class Roster {
  private static final System.Logger LOG = System.getLogger(Roster.class.getName());

  /** A worker on duty. */
  static final class Post {
    private final Worker worker;
    private final int id;
    private final WorkerHealth health;
    private long ejections;
    private long withheld;
    private boolean draining;
    private boolean leaving;
    private Map<String, String> models = Map.of();
    private String engine = "";
    private WorkerMetrics.Report report = WorkerMetrics.Report.NONE;
    private @Nullable WorkerEvents events;

    private Post(Worker worker, int id, WorkerHealth health) {
      this.worker = worker;
      this.id = id;
      this.health = health;
    }

    Worker worker() {
      return worker;
    }

    int id() {
      return id;
    }

    /** The models it serves, and what it tells of each; empty where it has not told. */
    Map<String, String> models() {
      return models;
    }

    /** By which others ask for what it prefilled; empty where it has not told. */
    String engine() {
      return engine;
    }

    /** Requests that failed there in a row. */
    int failures() {
      return health.failures();
    }

    /** How often it was taken out for its failures. */
    long ejections() {
      return ejections;
    }

    /** How often it was not, so that enough workers stay. */
    long withheld() {
      return withheld;
    }

    /** Its KV events; null where nobody listens to them. */
    @Nullable
    WorkerEvents events() {
      return events;
    }

    /** Whether it is to be forgotten once it has ended what it has. */
    boolean isLeaving() {
      return leaving;
    }

    Availability availability() {
      if (health.isOpen()) return Availability.DOWN;
      return draining ? Availability.DRAINING : Availability.READY;
    }
  }

  private final Router router;
  private final FailureRules rules;
  private final List<Post> posts = new ArrayList<>();

  /** Read on other loops as well. */
  private volatile ModelNames modelNames = ModelNames.NONE;

  Roster(Router router, FailureRules rules) {
    this.router = router;
    this.rules = rules;
  }

  Post add(Worker worker, long nowNanos) {
    int id = router.add(worker.instance());
    router.become(id, Availability.DOWN);
    var post = new Post(worker, id, new WorkerHealth(rules, nowNanos));
    posts.add(post);
    return post;
  }

  /**
   * Has these workers and no others: one that is not among them gets nothing new, and goes when it
   * has ended what it has.
   *
   * @return those that were not there before
   */
  List<Post> have(List<Worker> workers, long nowNanos) {
    for (var post : posts) {
      boolean stays = workers.contains(post.worker);
      if (stays == !post.leaving) continue;
      post.leaving = !stays;
      post.draining = !stays;
      settle(post);
    }
    var known = posts.stream().map(Post::worker).toList();
    var added = new ArrayList<Post>();
    for (var worker : workers) if (!known.contains(worker)) added.add(add(worker, nowNanos));
    return added;
  }

  /** Forgets those that were to go and have ended what they had; answers who they were. */
  List<Integer> sweep() {
    var gone = new ArrayList<Integer>();
    for (var post : List.copyOf(posts)) {
      if (!post.leaving || router.load(post.id).inFlight() > 0) continue;
      posts.remove(post);
      router.remove(post.id);
      gone.add(post.id);
      LOG.log(INFO, "worker {0} is gone", post.worker.name());
    }
    if (!gone.isEmpty()) nameModels();
    return gone;
  }

  List<Post> posts() {
    return posts;
  }

  /** One for each name: a worker that goes makes way for another one of its name. */
  List<Post> shown() {
    return posts.stream().filter(post -> post(post.worker.name()).equals(post)).toList();
  }

  Post post(int id) {
    var post = find(id);
    if (post == null) throw new IllegalArgumentException("no worker " + id);
    return post;
  }

  /** What the worker is called; a request may end after the worker it failed at is gone. */
  String name(int id) {
    var post = find(id);
    return post == null ? "gone" : post.worker.name();
  }

  /** News of a worker may come when it is gone already; then it is null. */
  private @Nullable Post find(int id) {
    for (var post : posts) {
      if (post.id == id) return post;
    }
    return null;
  }

  Post post(String worker) {
    for (var post : posts.reversed()) {
      if (post.worker.name().equals(worker)) return post;
    }
    throw new IllegalArgumentException("no worker is called " + worker);
  }

  int ready() {
    int count = 0;
    for (var post : posts) if (post.availability() == Availability.READY) count++;
    return count;
  }

  /**
   * The worker has answered the caller well. Workers in doubt that failed the same caller are taken
   * out: the fault was theirs.
   */
  void succeeded(int id, Caller caller, long nowNanos) {
    var post = find(id);
    if (post != null) post.health.succeeded();
    for (var other : posts) {
      if (other.id != id && other.health.isInDoubtFor(name(caller))) eject(other, nowNanos);
    }
  }

  /** The worker has failed the caller; whose fault that was is seen when others have answered. */
  void failed(int id, Caller caller) {
    var post = find(id);
    if (post != null) post.health.failed(name(caller));
  }

  /** The workers that may be at fault for failures of the caller: others are to be tried. */
  List<Integer> doubted(Caller caller) {
    var doubted = new ArrayList<Integer>();
    for (var post : posts) if (post.health.isInDoubtFor(name(caller))) doubted.add(post.id);
    return doubted;
  }

  /** One tenant is one caller, however many keys it has. */
  private static String name(Caller caller) {
    return caller.tenant().isEmpty() ? "key " + caller.key() : "tenant " + caller.tenant();
  }

  /** Takes the worker out, unless too few would stay. */
  private void eject(Post post, long nowNanos) {
    int all = 0;
    int ready = 0;
    for (var other : posts) {
      if (other.draining) continue;
      all++;
      if (!other.equals(post) && other.availability() == Availability.READY) ready++;
    }
    if (ready < Math.ceil(rules.readyShareMin() * all)) {
      post.withheld++;
      post.health.forgive();
      LOG.log(
          INFO,
          "worker {0} fails and is kept: only {1} of {2} others are ready",
          post.worker.name(),
          ready,
          all - 1);
      return;
    }
    post.ejections++;
    post.health.eject(nowNanos);
    settle(post);
  }

  void probeSucceeded(int id, long nowNanos) {
    var post = find(id);
    if (post == null) return;
    post.health.probeSucceeded(nowNanos);
    settle(post);
  }

  void probeFailed(int id, long nowNanos) {
    var post = find(id);
    if (post == null) return;
    post.health.probeFailed(nowNanos);
    settle(post);
  }

  /** Sends the worker nothing new, or takes that back. */
  void drain(int id) {
    post(id).draining = true;
    settle(post(id));
  }

  void resume(int id) {
    var post = post(id);
    post.draining = post.leaving;
    settle(post);
  }

  void tell(int id, WorkerMetrics.Report report) {
    var post = find(id);
    if (post == null) return;
    post.report = report;
    router.tell(id, report.signals());
  }

  /** What the worker told of itself; nothing where that is too long ago to be believed. */
  WorkerMetrics.Report report(Post post) {
    return router.isFresh(post.id) ? post.report : WorkerMetrics.Report.NONE;
  }

  void serves(int id, Map<String, String> models) {
    var post = find(id);
    if (post == null || post.models.equals(models)) return;
    post.models = models;
    nameModels();
  }

  private void nameModels() {
    modelNames = ModelNames.of(posts.stream().map(Post::models).toList());
  }

  /** What the models that requests name mean for the names of blocks; from any thread. */
  ModelNames modelNames() {
    return modelNames;
  }

  void hears(int id, WorkerEvents events) {
    post(id).events = events;
  }

  void named(int id, String engine) {
    var post = find(id);
    if (post == null) return;
    if (!post.engine.isEmpty() && !post.engine.equals(engine)) router.restarted(id);
    post.engine = engine;
  }

  /** All models, and what the first worker that has it tells of each. */
  Map<String, String> models() {
    var models = new LinkedHashMap<String, String>();
    for (var post : posts) post.models.forEach(models::putIfAbsent);
    return models;
  }

  /** The workers that do not have the model; those that have not told may have it. */
  List<Integer> lacking(String model) {
    var lacking = new ArrayList<Integer>();
    for (var post : posts) {
      boolean told = !post.models.isEmpty() && !model.isEmpty();
      if (told && !post.models.containsKey(model)) lacking.add(post.id);
    }
    return lacking;
  }

  private void settle(Post post) {
    var before = router.availability(post.id);
    var now = post.availability();
    if (before == now) return;
    LOG.log(INFO, "worker {0} is {1}, was {2}", post.worker.name(), now, before);
    router.become(post.id, now);
    if (now == Availability.DOWN) router.unreachable(post.id);
    var events = post.events;
    if (before == Availability.DOWN && events != null) events.check();
  }
}
