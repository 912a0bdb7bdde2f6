package dev.kvasir.cli.load;

import dev.kvasir.sim.workload.Request;
import dev.kvasir.tools.load.GeneratedText;
import dev.kvasir.tools.load.LoadRequest;
import java.util.Iterator;

/**
 * The requests of a trace in words: where two prompts of the trace begin alike, so do their texts,
 * and nowhere else.
 */
final class TraceLoad implements Iterator<LoadRequest> {
  private final Iterator<Request> trace;

  TraceLoad(Iterator<Request> trace) {
    this.trace = trace;
  }

  @Override
  public boolean hasNext() {
    return trace.hasNext();
  }

  @Override
  public LoadRequest next() {
    var request = trace.next();
    return new LoadRequest(
        request.arrivalNanos(),
        () -> text(request),
        Math.max(1, request.outputTokens()),
        request.turn().session());
  }

  /** Each word is a block of one token, whose name depends on all before it. */
  private static String text(Request request) {
    var names = request.content().names(1, 0);
    return GeneratedText.of(() -> names.next().first(), request.promptTokens());
  }
}
