package dev.kvasir.sim.blis;

import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.router.limit.AdmissionPolicy;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.view.ClusterView;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Estimates;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.Load;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.sim.workload.Request;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Our own admission and picks, shown the cluster as BLIS would see it: the number of requests in
 * flight as it is, everything else as it was a while ago.
 */
public final class BlisRouting {
  private final BlisSettings settings;
  private final AdmissionPolicy admission;
  private final PickPolicy picks;
  private final int[] inFlight;
  private final List<EngineSignals> signals = new ArrayList<>();
  private final List<Set<BlockHash>> caches = new ArrayList<>();
  private final long[] signalMicros;
  private long cacheMicros;

  public BlisRouting(BlisSettings settings, AdmissionPolicy admission, PickPolicy picks) {
    this.settings = settings;
    this.admission = admission;
    this.picks = picks;
    this.inFlight = new int[settings.instances()];
    this.signalMicros = new long[settings.instances()];
    for (int i = 0; i < settings.instances(); i++) {
      signals.add(EngineSignals.IDLE);
      caches.add(new HashSet<>());
    }
  }

  boolean admits(Request request, List<BlisInstance> instances, long nowMicros) {
    var routed = routed(request);
    var answer = admission.admit(routed, view(routed, instances, nowMicros));
    return answer instanceof AdmissionPolicy.Admission.Admitted;
  }

  int pick(Request request, List<BlisInstance> instances, long nowMicros) {
    var routed = routed(request);
    int chosen = picks.pick(routed, view(routed, instances, nowMicros)).id();
    inFlight[chosen]++;
    return chosen;
  }

  void left(int instance) {
    inFlight[instance]--;
  }

  private RouteRequest routed(Request request) {
    var names = request.content().names(settings.blockTokens(), 0);
    var prefix = new ArrayList<BlockHash>();
    int blocks = request.promptTokens() / settings.blockTokens();
    for (int i = 0; i < blocks; i++) prefix.add(names.next());
    var sloClass = SloClass.of(request.caller().sloClass());
    return new RouteRequest("", request.promptTokens(), prefix, sloClass, List.of());
  }

  private ClusterView view(RouteRequest request, List<BlisInstance> instances, long nowMicros) {
    refresh(instances, nowMicros);
    var views = new ArrayList<InstanceView>();
    for (int i = 0; i < instances.size(); i++) {
      var cached = cached(request, i, instances.get(i));
      views.add(InstanceView.of(i, signals.get(i), Load.inFlight(inFlight[i]), cached));
    }
    return new ClusterView(nowMicros * 1000, settings.blockTokens(), views, Estimates.DEFAULT);
  }

  private void refresh(List<BlisInstance> instances, long nowMicros) {
    var times = settings.times();
    for (int i = 0; i < instances.size(); i++) {
      if (nowMicros - signalMicros[i] < times.snapshotMicros()) continue;
      signals.set(i, instances.get(i).signals());
      signalMicros[i] = nowMicros;
    }
    if (times.cacheSignalMicros() == 0 || nowMicros - cacheMicros < times.cacheSignalMicros()) {
      return;
    }
    cacheMicros = nowMicros;
    for (int i = 0; i < instances.size(); i++) {
      caches.set(i, new HashSet<>(instances.get(i).store().known()));
    }
  }

  private CachedBlocks cached(RouteRequest request, int index, BlisInstance instance) {
    var known =
        settings.times().cacheSignalMicros() == 0 ? instance.store().known() : caches.get(index);
    int blocks = 0;
    while (blocks < request.prefix().size() && known.contains(request.prefix().get(blocks))) {
      blocks++;
    }
    return CachedBlocks.onDevice(blocks);
  }
}
