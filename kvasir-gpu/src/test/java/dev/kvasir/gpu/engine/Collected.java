package dev.kvasir.gpu.engine;

import dev.kvasir.embedded.EmbeddedEngine;
import dev.kvasir.embedded.step.Generation;
import dev.kvasir.embedded.step.GenerationEnd;
import dev.kvasir.embedded.step.GenerationListener;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.embedded.step.Piece;
import dev.kvasir.kv.event.Tier;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The answers to some requests. */
final class Collected implements GenerationListener {
  private static final int WAIT_SECONDS = 300;

  final Map<String, List<Integer>> tokens = new LinkedHashMap<>();
  final List<String> failed = new ArrayList<>();
  final Map<Tier, Integer> cachedBlocks = new EnumMap<>(Tier.class);
  int preemptions;
  int cachedTokens;
  private final CountDownLatch missing;
  private final long begunNanos = System.nanoTime();
  private long firstNanos;

  private Collected(int count) {
    this.missing = new CountDownLatch(count);
  }

  @Override
  public void grown(Generation generation, Piece piece) {
    if (firstNanos == 0) firstNanos = System.nanoTime();
    tokens
        .computeIfAbsent(generation.request().id(), _ -> new ArrayList<>())
        .add(piece.choice().token());
  }

  @Override
  public void ended(Generation generation, GenerationEnd end) {
    if (!(end instanceof GenerationEnd.Full) && !(end instanceof GenerationEnd.Stopped)) {
      failed.add(generation.request().id() + ": " + end);
    }
    var usage = generation.usage();
    preemptions += usage.preemptions();
    cachedTokens += usage.cachedTokens();
    for (var tier : Tier.values()) {
      cachedBlocks.merge(tier, usage.cached().on(tier), Integer::sum);
    }
    missing.countDown();
  }

  /** From the asking to the first token of all. */
  double firstMillis() {
    return (firstNanos - begunNanos) * 1e-6;
  }

  /** Returns what failed first, or that nothing did. */
  String failure() {
    return failed.isEmpty() ? "none failed" : failed.getFirst();
  }

  /** Asks, and waits for all answers. */
  static Collected of(EmbeddedEngine engine, List<GenerationRequest> requests) {
    var collected = new Collected(requests.size());
    engine.loop().execute(() -> requests.forEach(each -> engine.submit(each, collected)));
    try {
      if (!collected.missing.await(WAIT_SECONDS, TimeUnit.SECONDS)) {
        collected.failed.add("no answer in " + WAIT_SECONDS + " s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return collected;
  }
}
