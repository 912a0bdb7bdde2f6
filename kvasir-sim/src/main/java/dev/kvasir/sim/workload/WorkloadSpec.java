package dev.kvasir.sim.workload;

import dev.kvasir.spec.Section;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * A random workload, as a scenario describes it.
 *
 * @param seed decides every draw
 * @param requestsMax how many requests there are at most, follow-ups included
 * @param duration after which no request comes any more
 */
public record WorkloadSpec(
    long seed, long requestsMax, Duration duration, List<ClientSpec> clients) {
  /** For workloads that end by their number of requests. */
  public static final Duration ENDLESS = Duration.ofDays(100 * 365);

  private static final double FRACTION_SLACK = 1e-6;

  public WorkloadSpec {
    clients = List.copyOf(clients);
    if (requestsMax <= 0) throw new IllegalArgumentException("at most " + requestsMax);
    if (!duration.isPositive() || duration.compareTo(ENDLESS) > 0) {
      throw new IllegalArgumentException("duration " + duration);
    }
    if (requestsMax == Long.MAX_VALUE && duration.equals(ENDLESS)) {
      throw new IllegalArgumentException("neither requests nor a duration, so it never ends");
    }
    if (clients.isEmpty()) throw new IllegalArgumentException("no clients");
    var ids = new LinkedHashSet<String>();
    for (var client : clients) {
      if (!ids.add(client.id())) {
        throw new IllegalArgumentException("two clients are called '" + client.id() + "'");
      }
    }
  }

  /**
   * Reads a section with the keys seed, rate, requests, duration and clients.
   *
   * <p>A client has a rate of its own, or a fraction of the rate of all.
   */
  public static WorkloadSpec read(Section section) {
    var shares = new Shares(section.number("rate", 0));
    var clients =
        section.sections("clients", client -> ClientSpec.read(client, () -> shares.rate(client)));
    if (shares.given > 0 && Math.abs(shares.given - 1) > FRACTION_SLACK) {
      throw section.error(
          "the fractions of the clients add up to " + shares.given, "they must add up to 1");
    }
    long seed = section.whole("seed", 42);
    long requestsMax = section.whole("requests", Long.MAX_VALUE);
    var duration = section.duration("duration", ENDLESS);
    // A misspelt key explains more than what is wrong without it.
    section.done();
    return new WorkloadSpec(seed, requestsMax, duration, clients);
  }

  /** The same clients, who come so many times as often. */
  public WorkloadSpec times(double factor) {
    var busier = clients.stream().map(client -> client.times(factor)).toList();
    return new WorkloadSpec(seed, requestsMax, duration, busier);
  }

  /** Divides the total rate among the clients. */
  private static final class Shares {
    private final double perSecond;
    private double given;

    Shares(double perSecond) {
      this.perSecond = perSecond;
    }

    double rate(Section client) {
      if (client.has("rate")) return client.number("rate");
      if (perSecond <= 0) {
        throw client.error("there is no rate", "give one to the client, or to the workload");
      }
      double fraction = client.number("fraction", 1);
      given += fraction;
      return perSecond * fraction;
    }
  }
}
