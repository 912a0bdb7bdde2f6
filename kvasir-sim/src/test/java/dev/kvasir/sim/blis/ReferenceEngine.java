package dev.kvasir.sim.blis;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.EngineSettings.Victim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * One engine of BLIS, written down rule by rule and slowly, to compare ours with: a step takes 1000
 * us and 10 for each request in it, and 1 us if it computes nothing.
 */
final class ReferenceEngine {
  private static final int QUEUEING = 200;
  private static final int PER_TOKEN = 5;
  private static final int AFTER = 300;

  private final EngineSettings settings;
  private final ReferenceBlocks blocks;
  private final int blockTokens;
  private final List<ReferenceRequest> waiting = new ArrayList<>();
  private final List<ReferenceRequest> batch = new ArrayList<>();
  private int budget;
  private int row;
  private int preemptions;

  ReferenceEngine(EngineSettings settings, int blocks, int blockTokens) {
    this.settings = settings;
    this.blocks = new ReferenceBlocks(blocks, blockTokens);
    this.blockTokens = blockTokens;
  }

  /** Runs the requests, which arrive in this order, and says how often one made room. */
  int run(List<ReferenceRequest> arriving) {
    var coming = new ArrayList<>(arriving);
    long now = -1;
    while (now >= 0 || !coming.isEmpty()) {
      if (now < 0) now = coming.getFirst().arrival + QUEUEING;
      while (!coming.isEmpty() && coming.getFirst().arrival + QUEUEING <= now) {
        waiting.add(coming.removeFirst());
      }
      now += step(now);
      if (batch.isEmpty() && waiting.isEmpty()) now = -1;
    }
    return preemptions;
  }

  private long step(long now) {
    sortWaiting();
    int before = preemptions;
    budget = settings.stepTokensMax();
    for (var each : batch) each.newTokens = 0;
    for (row = 0; row < batch.size() && budget > 0; row++) {
      if (!grow(batch.get(row))) break;
    }
    if (preemptions == before) admit(now);
    long active = batch.stream().filter(each -> each.newTokens > 0).count();
    long advance = active == 0 ? 1 : 1000 + 10 * active;
    for (var each : batch) advance(each, now + advance, advance);
    for (var each : List.copyOf(batch)) {
      if (each.progress >= each.prompt + Math.max(each.output, 1) - 1) complete(each);
    }
    return advance;
  }

  private void sortWaiting() {
    var order =
        switch (settings.order()) {
          case FIRST_COME -> null;
          case PRIORITY -> Comparator.comparingInt((ReferenceRequest each) -> each.priority);
          case SHORTEST_PROMPT -> Comparator.comparingInt((ReferenceRequest each) -> each.prompt);
          case REVERSE_PRIORITY ->
              Comparator.comparingInt((ReferenceRequest each) -> -each.priority);
        };
    if (order == null) return;
    waiting.sort(order.thenComparingLong(each -> each.arrival).thenComparing(each -> each.id));
  }

  /** False if the request itself had to go: then the rows behind it get nothing. */
  private boolean grow(ReferenceRequest request) {
    boolean isPrefill = request.progress < request.prompt;
    int tokens = isPrefill ? Math.min(chunk(request.prompt - request.progress), budget) : 1;
    if (!allocate(request, tokens)) return false;
    budget -= tokens;
    request.newTokens = tokens;
    request.computed += tokens;
    return true;
  }

  private int chunk(int tokens) {
    int most = settings.chunkTokensMax();
    return most > 0 ? Math.min(most, tokens) : tokens;
  }

  private boolean allocate(ReferenceRequest request, int tokens) {
    int start = request.progress;
    while (!blocks.allocate(request, start, start + tokens, List.of())) {
      int index = victim();
      var victim = batch.remove(index);
      if (index < row) row--;
      budget += victim.newTokens;
      victim.newTokens = 0;
      victim.progress = 0;
      victim.computed = 0;
      victim.gaps = 0;
      victim.ttft = -1;
      blocks.release(victim);
      waiting.addFirst(victim);
      preemptions++;
      if (victim == request) return false;
    }
    return true;
  }

  private int victim() {
    int worst = batch.size() - 1;
    if (settings.victim() == Victim.NEWEST) return worst;
    for (int i = worst - 1; i >= 0; i--) {
      var each = batch.get(i);
      var other = batch.get(worst);
      boolean isWorse =
          each.priority == other.priority
              ? each.arrival > other.arrival
              : each.priority > other.priority;
      if (isWorse) worst = i;
    }
    return worst;
  }

  private void admit(long now) {
    while (batch.size() < settings.sequencesMax() && !waiting.isEmpty() && budget > 0) {
      var next = waiting.getFirst();
      var cached = blocks.cached(next);
      int start = cached.size() * blockTokens;
      int tokens = Math.min(chunk(next.prompt - start), budget);
      if (!blocks.allocate(next, start, start + tokens, cached)) return;
      batch.add(waiting.removeFirst());
      next.newTokens = tokens;
      next.computed = start + tokens;
      next.delay = now - next.arrival;
      budget -= tokens;
    }
  }

  private static void advance(ReferenceRequest request, long end, long advance) {
    if (request.progress < request.prompt) {
      request.progress = request.computed;
    } else if (request.newTokens > 0) {
      request.progress++;
      request.gaps += advance + PER_TOKEN;
    }
    if (request.progress == request.prompt && request.ttft < 0) {
      request.ttft = end + PER_TOKEN - request.arrival;
    }
  }

  private void complete(ReferenceRequest request) {
    blocks.allocate(request, request.progress, request.progress + 1, List.of());
    blocks.release(request);
    request.e2e = request.ttft + request.gaps + AFTER;
    batch.remove(request);
  }
}
