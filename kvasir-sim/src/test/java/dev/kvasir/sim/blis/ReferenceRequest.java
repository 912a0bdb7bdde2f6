package dev.kvasir.sim.blis;

import dev.kvasir.router.view.SloClass;
import dev.kvasir.sim.workload.Request;
import java.util.ArrayList;
import java.util.List;

/** A request by the rules of BLIS: token by token, and with no tracking beside its own fields. */
final class ReferenceRequest {
  final String id;
  final long arrival;
  final int prompt;
  final int output;
  final int priority;
  final List<Long> tokens = new ArrayList<>();

  /** Tokens whose K and V exist. */
  int progress;

  /** Tokens that exist after this step. */
  int computed;

  int newTokens;
  long gaps;
  long ttft = -1;
  long e2e = -1;
  long delay = -1;

  /** The request's tokens: the group's own ones first, then tokens that nobody else has. */
  ReferenceRequest(Request request, int number, int group, int shared) {
    this.id = request.id();
    this.arrival = request.arrivalNanos() / 1000;
    this.prompt = request.promptTokens();
    this.output = request.outputTokens();
    this.priority = SloClass.of(request.caller().sloClass()).queuePriority();
    for (long at = 0; at <= request.tokens(); at++) {
      long stream = at < shared ? -1 - group : 1 + number;
      tokens.add(stream * 1_000_000 + at);
    }
  }
}
