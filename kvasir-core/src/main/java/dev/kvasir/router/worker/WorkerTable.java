package dev.kvasir.router.worker;

import dev.kvasir.Nullable;
import dev.kvasir.router.Router;
import dev.kvasir.router.limit.FlowCaller;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.Instance;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * The workers and their health. Belongs to the loop of the flow.
 *
 * @param <T> what a driver knows of a worker
 */
public final class WorkerTable<T> {
  /** Hears of changes of workers. */
  public interface Listener<T> {
    /** The worker may be sent requests now, or not any more. */
    void changed(WorkerEntry<T> entry, Availability before);

    /** The worker fails and stays, since only so many of the others are ready. */
    void withheld(WorkerEntry<T> entry, int ready);

    /** The worker could not do it, and another one could: it is not sent such requests for now. */
    default void lacks(WorkerEntry<T> entry, Need need) {
      // Most only need to know who is there.
    }
  }

  /** Time for which a worker is not sent what it could not do: its next start may change that. */
  public static final Duration LACK_TIME = Duration.ofMinutes(10);

  private final Router router;
  private final EjectionRules rules;
  private final Listener<T> listener;
  private final List<WorkerEntry<T>> entries = new ArrayList<>();
  private IntConsumer ejected = _ -> {};

  /** Counts changes of who may answer what. */
  private long version;

  /** When the first of the workers may be able again to do what it lacked. */
  private long lackEndsNanos = Long.MAX_VALUE;

  /** The last that came under each name; only asked, never gone through. */
  private final HashMap<String, WorkerEntry<T>> byName = new HashMap<>();

  public WorkerTable(Router router, EjectionRules rules, Listener<T> listener) {
    this.router = router;
    this.rules = rules;
    this.listener = listener;
  }

  /** Adds a worker, which is down until a probe of it succeeds. */
  public WorkerEntry<T> add(
      Instance instance, WorkerEntry.Handover handover, T worker, long nowNanos) {
    int id = router.add(instance);
    router.become(id, Availability.DOWN);
    var entry = new WorkerEntry<>(id, instance, handover, worker, rules, nowNanos);
    entries.add(entry);
    version++;
    byName.put(instance.name(), entry);
    return entry;
  }

  /** In the order they came. */
  public List<WorkerEntry<T>> entries() {
    return Collections.unmodifiableList(entries);
  }

  public WorkerEntry<T> entry(int id) {
    var entry = find(id);
    if (entry == null) throw new IllegalArgumentException("no worker " + id);
    return entry;
  }

  /** The worker; null if it is gone, which late reports of it may not know. */
  public @Nullable WorkerEntry<T> find(int id) {
    for (var entry : entries) {
      if (entry.id() == id) return entry;
    }
    return null;
  }

  /** The worker of that name, the last where there are two; null where there is none. */
  public @Nullable WorkerEntry<T> find(String name) {
    return byName.get(name);
  }

  public int ready() {
    int count = 0;
    for (var entry : entries) if (entry.availability() == Availability.READY) count++;
    return count;
  }

  /**
   * The worker has answered the caller well. Workers in doubt that failed the same caller are
   * ejected: the fault was theirs.
   */
  public void succeeded(int id, FlowCaller caller, long nowNanos) {
    for (int i = 0; i < entries.size(); i++) {
      var entry = entries.get(i);
      if (entry.id() == id) entry.succeeded();
      else if (entry.isInDoubtFor(caller)) eject(entry, nowNanos);
    }
  }

  /** The worker has failed the caller; whose fault that was is seen when others have answered. */
  public void failed(int id, FlowCaller caller) {
    var entry = find(id);
    if (entry != null) entry.failed(caller);
  }

  /** The workers that may be at fault for failures of the caller: others are to be tried. */
  public List<Integer> doubted(FlowCaller caller) {
    List<Integer> doubted = List.of();
    for (int i = 0; i < entries.size(); i++) {
      if (!entries.get(i).isInDoubtFor(caller)) continue;
      if (doubted.isEmpty()) doubted = new ArrayList<>();
      doubted.add(entries.get(i).id());
    }
    return doubted;
  }

  /** The workers that do not serve the model. */
  public List<Integer> lacking(String model) {
    if (model.isEmpty()) return List.of();
    List<Integer> lacking = List.of();
    for (int i = 0; i < entries.size(); i++) {
      if (entries.get(i).serves(model)) continue;
      if (lacking.isEmpty()) lacking = new ArrayList<>();
      lacking.add(entries.get(i).id());
    }
    return lacking;
  }

  /** The workers that cannot answer the request; none where no other could, so that one says so. */
  public List<Integer> unable(Submission submission, long nowNanos) {
    List<Integer> unable = List.of();
    boolean isAnyAble = false;
    for (int i = 0; i < entries.size(); i++) {
      var entry = entries.get(i);
      boolean isThere =
          entry.availability() == Availability.READY && entry.serves(submission.model());
      if (entry.isAble(submission, nowNanos)) {
        isAnyAble |= isThere;
      } else {
        if (unable.isEmpty()) unable = new ArrayList<>();
        unable.add(entry.id());
      }
    }
    return isAnyAble ? unable : List.of();
  }

  /**
   * The workers that may answer the request by all that is known of them, ready or not. Another
   * {@link #version} means that there may be others.
   */
  public List<Integer> able(Submission submission, long nowNanos) {
    var unable = unable(submission, nowNanos);
    var able = new ArrayList<Integer>();
    for (int i = 0; i < entries.size(); i++) {
      var entry = entries.get(i);
      int id = entry.id();
      if (!entry.instance().role().decodes() || !entry.serves(submission.model())) continue;
      if (!unable.contains(id) && !submission.route().avoided().contains(id)) able.add(id);
    }
    return able;
  }

  /** A number that differs from an earlier one if other workers may be able to answer by now. */
  public long version(long nowNanos) {
    if (nowNanos >= lackEndsNanos) {
      version++;
      lackEndsNanos = Long.MAX_VALUE;
      for (var entry : entries) {
        lackEndsNanos = Math.min(lackEndsNanos, entry.nextAbleNanos(nowNanos));
      }
    }
    return version;
  }

  /** Returns whether a worker other than that one may be able to answer what it could not. */
  public boolean isAnotherAble(int id, Submission submission, long nowNanos) {
    var refusing = find(id);
    int context = refusing == null ? 0 : refusing.contextTokens();
    for (var entry : entries) {
      boolean isThere = entry.id() != id && entry.availability() == Availability.READY;
      if (!isThere || !entry.serves(submission.model()) || !entry.isAble(submission, nowNanos))
        continue;
      if (!submission.needs().isEmpty() || entry.contextTokens() > context) return true;
    }
    return false;
  }

  /** The worker said no to a request that another one has answered. */
  public void wasUnable(int id, Submission submission, long nowNanos) {
    var entry = find(id);
    if (entry == null) return;
    for (var need : submission.needs()) {
      if (!entry.lacks(nowNanos).contains(need)) listener.lacks(entry, need);
      entry.lacks(need, nowNanos + LACK_TIME.toNanos());
      lackEndsNanos = Math.min(lackEndsNanos, nowNanos + LACK_TIME.toNanos());
      version++;
    }
  }

  /** Another gateway has ejected the worker for requests of its own that failed there. */
  public void ejectedElsewhere(String name, long nowNanos) {
    var entry = find(name);
    if (entry == null || entry.availability() != Availability.READY) return;
    if (!canSpare(entry)) return;
    entry.ejectedElsewhere(nowNanos);
    settle(entry);
  }

  /** Ejects the worker, unless too few would stay. */
  private void eject(WorkerEntry<T> entry, long nowNanos) {
    if (!canSpare(entry)) return;
    entry.eject(nowNanos);
    settle(entry);
    ejected.accept(entry.id());
  }

  /** Has the listener hear whom this gateway ejects for requests of its own. */
  public void onEjection(IntConsumer listener) {
    ejected = listener;
  }

  /** Returns whether enough others are ready; if they are not, the worker stays for now. */
  private boolean canSpare(WorkerEntry<T> entry) {
    int all = 0;
    int ready = 0;
    for (var other : entries) {
      if (other.isDraining()) continue;
      all++;
      if (!other.equals(entry) && other.availability() == Availability.READY) ready++;
    }
    if (ready < Math.ceil(rules.readyShareMin() * all)) {
      entry.withhold();
      listener.withheld(entry, ready);
      return false;
    }
    return true;
  }

  public void probeSucceeded(int id, long nowNanos) {
    var entry = find(id);
    if (entry == null) return;
    if (entry.probeSucceeded(nowNanos)) version++;
    settle(entry);
  }

  public void probeFailed(int id, long nowNanos) {
    var entry = find(id);
    if (entry == null) return;
    entry.probeFailed(nowNanos);
    settle(entry);
  }

  /**
   * The worker has told which models it serves.
   *
   * @param contextTokens how long a prompt and its answer may be; 0 where it does not tell
   */
  public void serves(int id, List<String> models, int contextTokens) {
    var entry = find(id);
    if (entry != null && entry.serves(models, contextTokens)) version++;
  }

  /** Sends the worker nothing new. */
  public void drain(int id) {
    entry(id).drain();
    settle(entry(id));
  }

  /** Takes a drain back. */
  public void resume(int id) {
    entry(id).resume();
    settle(entry(id));
  }

  /** Sends the worker nothing new, and forgets it when it has ended what it has. */
  public void retire(int id) {
    entry(id).leave();
    settle(entry(id));
  }

  /** Takes a retirement back. */
  public void restore(int id) {
    entry(id).stay();
    settle(entry(id));
  }

  /** Forgets those that were to go and have ended what they had; answers which those are. */
  public List<WorkerEntry<T>> sweep() {
    var gone = new ArrayList<WorkerEntry<T>>();
    for (var entry : List.copyOf(entries)) {
      if (!entry.isLeaving() || router.booked(entry.id()).inFlight() > 0) continue;
      entries.remove(entry);
      version++;
      byName.remove(entry.instance().name(), entry);
      router.remove(entry.id());
      gone.add(entry);
    }
    return gone;
  }

  private void settle(WorkerEntry<T> entry) {
    var before = router.availability(entry.id());
    var now = entry.availability();
    if (before == now) return;
    router.become(entry.id(), now);
    version++;
    if (now == Availability.DOWN) router.unreachable(entry.id());
    listener.changed(entry, before);
  }
}
