package dev.kvasir.live.gateway;

import static java.lang.System.Logger.Level.INFO;

import dev.kvasir.router.Availability;
import dev.kvasir.router.EngineSignals;
import dev.kvasir.router.Router;
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
    private final WorkerHealth breaker;
    private boolean draining;
    private Map<String, String> models = Map.of();
    private String engine = "";
    private EngineSignals signals = EngineSignals.NONE;

    private Post(Worker worker, int id, WorkerHealth breaker) {
      this.worker = worker;
      this.id = id;
      this.breaker = breaker;
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

    /** What it last told of itself. */
    EngineSignals signals() {
      return signals;
    }

    Availability availability() {
      if (breaker.isOpen()) return Availability.DOWN;
      return draining ? Availability.DRAINING : Availability.READY;
    }
  }

  private final Router router;
  private final FailureRules rules;
  private final List<Post> posts = new ArrayList<>();

  Roster(Router router, FailureRules rules) {
    this.router = router;
    this.rules = rules;
  }

  void add(Worker worker, long nowNanos) {
    int id = router.add(worker.instance());
    router.become(id, Availability.DOWN);
    posts.add(new Post(worker, id, new WorkerHealth(rules, nowNanos)));
  }

  List<Post> posts() {
    return posts;
  }

  Post post(int id) {
    for (var post : posts) {
      if (post.id == id) return post;
    }
    throw new IllegalArgumentException("no worker " + id);
  }

  Post post(String worker) {
    for (var post : posts) {
      if (post.worker.name().equals(worker)) return post;
    }
    throw new IllegalArgumentException("no worker is called " + worker);
  }

  int ready() {
    int count = 0;
    for (var post : posts) if (post.availability() == Availability.READY) count++;
    return count;
  }

  void succeeded(int id) {
    post(id).breaker.succeeded();
  }

  void failed(int id, long nowNanos) {
    var post = post(id);
    post.breaker.failed(nowNanos);
    settle(post);
  }

  void probeSucceeded(int id, long nowNanos) {
    var post = post(id);
    post.breaker.probeSucceeded(nowNanos);
    settle(post);
  }

  void probeFailed(int id, long nowNanos) {
    var post = post(id);
    post.breaker.probeFailed(nowNanos);
    settle(post);
  }

  /** Sends the worker nothing new, or takes that back. */
  void drain(int id) {
    post(id).draining = true;
    settle(post(id));
  }

  void resume(int id) {
    post(id).draining = false;
    settle(post(id));
  }

  void tell(int id, EngineSignals signals) {
    post(id).signals = signals;
    router.tell(id, signals);
  }

  void serves(int id, Map<String, String> models) {
    post(id).models = models;
  }

  void named(int id, String engine) {
    var post = post(id);
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
    if (now == Availability.DOWN) router.restarted(post.id);
  }
}
