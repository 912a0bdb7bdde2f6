package dev.kvasir.router.limit;

import dev.kvasir.router.view.ClusterView;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.RouteRequest;
import java.util.List;
import java.util.function.ToIntFunction;

/** Decides whether a request is admitted. A policy may have state. */
@FunctionalInterface
public interface AdmissionPolicy {
  Admission admit(RouteRequest request, ClusterView cluster);

  /** The answer; who is refused is told why. */
  sealed interface Admission {
    record Admitted() implements Admission {}

    record Rejected(String reason) implements Admission {}

    Admission ADMITTED = new Admitted();
  }

  static AdmissionPolicy alwaysAdmit() {
    return (_, _) -> Admission.ADMITTED;
  }

  /** Takes nothing, to see what that does. */
  static AdmissionPolicy rejectAll() {
    return (_, _) -> new Admission.Rejected("reject-all");
  }

  /**
   * Admits requests at a rate of prompt tokens.
   *
   * @param capacity how many tokens a burst may have
   */
  static AdmissionPolicy tokenBucket(double capacity, double tokensPerSecond) {
    var bucket = new TokenBucket(capacity, tokensPerSecond, 0);
    return (request, cluster) -> {
      bucket.fill(cluster.nanos());
      if (!bucket.has(request.promptTokens())) {
        return new Admission.Rejected("insufficient tokens");
      }
      bucket.consume(request.promptTokens());
      return Admission.ADMITTED;
    };
  }

  /**
   * Refuses the less important while any instance has too much to do.
   *
   * @param loadMax the requests of an instance above which that is so
   * @param priorityMin the least priority that is taken then
   */
  static AdmissionPolicy tierShed(int loadMax, int priorityMin) {
    return tierShed(loadMax, priorityMin, InstanceView::requests);
  }

  /** The same, with another account of what an instance has to do. */
  static AdmissionPolicy tierShed(
      int loadMax, int priorityMin, ToIntFunction<InstanceView> loadOf) {
    if (loadMax < 0) throw new IllegalArgumentException("load " + loadMax + ", expected 0 or more");
    return (request, cluster) -> {
      int load = highestLoad(cluster.instances(), loadOf);
      var sloClass = request.sloClass();
      if (load <= loadMax || sloClass.priority() >= priorityMin) return Admission.ADMITTED;
      return new Admission.Rejected(
          "tier-shed: class=%s priority=%d < min=%d load=%d"
              .formatted(sloClass.label(), sloClass.priority(), priorityMin, load));
    };
  }

  /**
   * Refuses sheddable requests while the instances are saturated on average.
   *
   * @param queueDepthMax the queue at which an instance is saturated
   * @param kvUtilisationMax the share of its blocks in use at which it is
   */
  static AdmissionPolicy gaieLegacy(double queueDepthMax, double kvUtilisationMax) {
    if (!(queueDepthMax > 0) || !(kvUtilisationMax > 0 && kvUtilisationMax <= 1)) {
      throw new IllegalArgumentException(
          "queue of " + queueDepthMax + ", utilisation of " + kvUtilisationMax);
    }
    return (request, cluster) -> {
      if (!request.sloClass().isSheddable()) return Admission.ADMITTED;
      double saturation = saturation(cluster.instances(), queueDepthMax, kvUtilisationMax);
      if (saturation < 1) return Admission.ADMITTED;
      return new Admission.Rejected(
          "gaie-saturated: class=" + request.sloClass().label() + " saturation=" + saturation);
    };
  }

  private static int highestLoad(List<InstanceView> instances, ToIntFunction<InstanceView> loadOf) {
    int highest = 0;
    for (var instance : instances) highest = Math.max(highest, loadOf.applyAsInt(instance));
    return highest;
  }

  /** Nobody there counts as saturated. */
  private static double saturation(
      List<InstanceView> instances, double queueDepthMax, double kvUtilisationMax) {
    if (instances.isEmpty()) return 1;
    double sum = 0;
    for (var instance : instances) {
      var signals = instance.signals();
      sum +=
          Math.max(
              signals.queueDepth() / queueDepthMax, signals.kvUtilisation() / kvUtilisationMax);
    }
    return sum / instances.size();
  }
}
