package dev.kvasir.router.turn;

import dev.kvasir.Records;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Load;
import dev.kvasir.router.view.SloClass;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The order in which waiting requests are served, and the bounds on the load of a worker.
 *
 * @param order among requests of one priority
 * @param weights the shares of tenants under {@link Order#FAIR}, as {@code TENANT=WEIGHT}; 1 for
 *     who is not named
 * @param classes what holds for classes; those that are not named have their own priority and no
 *     target
 * @param workerInFlightMax requests with a worker; 0 for no bound
 * @param workerReserve of these, how many are kept for important requests
 * @param reservedFor the least important class that may use those
 * @param workerPrefillsMax prefills with a worker, waiting ones included, from which on it is given
 *     nothing new; 0 for no bound
 * @param workerWaitingMax requests that wait within a worker, by its own account; 0 for no bound
 * @param workerKvMax the share of its KV memory in use from which a worker is given nothing new; 0
 *     for no bound
 * @param late what becomes of a request that would be late
 */
public record TurnRules(
    Order order,
    List<String> weights,
    List<ClassRule> classes,
    int workerInFlightMax,
    int workerReserve,
    SloClass reservedFor,
    int workerPrefillsMax,
    int workerWaitingMax,
    double workerKvMax,
    Late late) {
  /** The order of requests of one priority. */
  public enum Order {
    /** As they came. */
    ARRIVAL,
    /** So that each tenant gets its share of the tokens. */
    FAIR,
    /** By when their first token is due. */
    DEADLINE
  }

  /** Treatment of a request that is predicted to be late. */
  public enum Late {
    /** It waits as long as there is patience. */
    WAIT,
    /** It is refused as soon as that is foreseen, and told when to come again. */
    SHED
  }

  /**
   * Rule for one class.
   *
   * @param priority higher goes first; 0 for the class's own
   * @param target when its first token is due, from its arrival; zero where there is no target
   */
  public record ClassRule(SloClass name, int priority, Duration target) {
    public static final ClassRule DEFAULT = new ClassRule(SloClass.STANDARD, 0, Duration.ZERO);

    public ClassRule {
      if (target.isNegative()) {
        throw new IllegalArgumentException("target " + target + ", expected 0 or more");
      }
    }
  }

  /** In the order of arrival, with workers given all that comes. */
  public static final TurnRules DEFAULT =
      new TurnRules(
          Order.ARRIVAL, List.of(), List.of(), 0, 0, SloClass.CRITICAL, 0, 0, 0, Late.WAIT);

  public TurnRules {
    weights = List.copyOf(weights);
    classes = List.copyOf(classes);
    var _ = shares(weights);
    if (classes.stream().map(ClassRule::name).distinct().count() < classes.size()) {
      throw new IllegalArgumentException("a class is named twice in " + classes);
    }
    if (workerInFlightMax < 0 || workerPrefillsMax < 0 || workerWaitingMax < 0) {
      throw new IllegalArgumentException(
          "%d in flight, %d prefills and %d waiting at a worker, expected 0 or more"
              .formatted(workerInFlightMax, workerPrefillsMax, workerWaitingMax));
    }
    if (workerReserve < 0 || workerReserve > Math.max(0, workerInFlightMax - 1)) {
      throw new IllegalArgumentException(
          "%d of %d requests of a worker are reserved, expected 0 or more and one less than all"
              .formatted(workerReserve, workerInFlightMax));
    }
    if (!(workerKvMax >= 0 && workerKvMax <= 1)) {
      throw new IllegalArgumentException(
          "KV memory in use up to " + workerKvMax + ", expected 0 to 1");
    }
  }

  /** These, with bounds on the requests and the prefills of a worker. */
  public TurnRules withBounds(int inFlight, int reserve, int prefills) {
    return Records.with(
        this,
        "workerInFlightMax",
        inFlight,
        "workerReserve",
        reserve,
        "workerPrefillsMax",
        prefills);
  }

  /** The place of a class in line: the lowest goes first. */
  public int rank(SloClass sloClass) {
    for (var each : classes) {
      if (each.name() == sloClass && each.priority() != 0) {
        return SloClass.CRITICAL.priority() - each.priority();
      }
    }
    return sloClass.queuePriority();
  }

  /** When the first token of a class is due, from the arrival; zero where there is no target. */
  public Duration target(SloClass sloClass) {
    for (var each : classes) if (each.name() == sloClass) return each.target();
    return Duration.ZERO;
  }

  /** The weights by tenant. */
  public Map<String, Double> shares() {
    return shares(weights);
  }

  private static Map<String, Double> shares(List<String> texts) {
    var shares = new LinkedHashMap<String, Double>();
    for (var text : texts) {
      int at = text.lastIndexOf('=');
      double weight = at < 1 ? 0 : weight(text.substring(at + 1));
      if (!(weight > 0 && weight < Double.POSITIVE_INFINITY)) {
        throw new IllegalArgumentException(
            "weight '" + text + "', expected TENANT=WEIGHT with a weight above 0");
      }
      shares.put(text.substring(0, at), weight);
    }
    return shares;
  }

  private static double weight(String text) {
    return text.matches("\\d{1,9}(\\.\\d{1,9})?") ? Double.parseDouble(text) : 0;
  }

  /** Returns whether there is any bound on what a worker is given. */
  public boolean hasCaps() {
    return workerInFlightMax > 0
        || workerPrefillsMax > 0
        || workerWaitingMax > 0
        || workerKvMax > 0;
  }

  /**
   * Returns whether a worker is to be given no request of that class for now.
   *
   * @param load what is with it
   * @param signals what it reported lately; a signal that it did not report bounds nothing
   */
  public boolean isFull(SloClass sloClass, Load load, EngineSignals signals) {
    int places = workerInFlightMax - (rank(sloClass) <= rank(reservedFor) ? 0 : workerReserve);
    if (workerInFlightMax > 0 && load.inFlight() >= places) return true;
    if (workerPrefillsMax > 0 && load.prefills() >= workerPrefillsMax) return true;
    if (workerWaitingMax > 0 && signals.queueDepth() >= workerWaitingMax) return true;
    return workerKvMax > 0 && signals.kvUtilisation() >= workerKvMax;
  }
}
