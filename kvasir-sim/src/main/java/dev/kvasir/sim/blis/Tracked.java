package dev.kvasir.sim.blis;

import dev.kvasir.Nullable;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.workload.Request;
import java.util.ArrayList;
import java.util.List;

/** Notes about a request on its way through the cluster. */
final class Tracked {
  final Request request;
  final long arrivalMicros;
  int instance = -1;
  BlisScheduler.@Nullable Row row;
  RequestEnding ending = RequestEnding.UNFINISHED;
  long schedulingMicros = RequestResult.NEVER;
  boolean hasFirstToken;
  long ttftMicros = RequestResult.NEVER;
  long e2eMicros = RequestResult.NEVER;
  int cachedTokens;
  CachedBlocks cached = CachedBlocks.NONE;
  int outputTokens;

  /** The instance's sum of gaps, and its number of steps, when decoding began. */
  long gapsBefore;

  int firstStep;
  long skippedMicros;
  final List<Integer> skippedSteps = new ArrayList<>();
  int gaps;
  long gapMicros;

  Tracked(Request request) {
    this.request = request;
    this.arrivalMicros = request.arrivalNanos() / 1000;
  }

  /** Returns whether the request reached the queue of an instance, or was turned away before. */
  boolean isAccountedFor() {
    return row != null || ending != RequestEnding.UNFINISHED;
  }

  RequestResult result() {
    return new RequestResult(
        request,
        instance,
        instance,
        ending,
        "",
        ttftMicros,
        e2eMicros,
        schedulingMicros,
        gapMicros,
        gaps,
        outputTokens,
        cachedTokens,
        cached);
  }
}
