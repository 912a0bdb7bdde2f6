package dev.kvasir.gateway.request;

import dev.kvasir.gateway.journal.Decision;
import dev.kvasir.gateway.journal.Ending;
import dev.kvasir.gateway.journal.RequestDetails;
import dev.kvasir.gateway.worker.FailureRules;
import dev.kvasir.gateway.worker.GatewayWorkers;
import dev.kvasir.gateway.worker.Upstream;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.router.flow.FlowRequest;
import dev.kvasir.router.flow.RequestFlow;
import java.util.function.Consumer;

/**
 * Parts of the gateway that every request on its way needs.
 *
 * @param recorder consumer of a request that is over, which writes it down; on the loop of the
 *     router
 */
public record GatewayParts(
    LiveLoop loop,
    RequestFlow flow,
    GatewayWorkers workers,
    Upstream upstream,
    FailureRules rules,
    RequestReader reader,
    Consumer<Decision> recorder) {
  /** Writes down how a request ended; on the loop of the router. */
  public void writeDown(FlowRequest request, RequestDetails details, Ending how) {
    var route = request.route();
    var record = route == null ? null : route.written();
    recorder.accept(
        new Decision(
            details,
            record,
            record == null ? "" : workers.name(record.decode()),
            record == null || record.prefill() < 0 ? "" : workers.name(record.prefill()),
            request.attempts(),
            how,
            loop.nanos()));
  }
}
