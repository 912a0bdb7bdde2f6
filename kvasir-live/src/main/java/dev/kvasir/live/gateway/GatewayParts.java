package dev.kvasir.live.gateway;

import dev.kvasir.live.LiveLoop;
import dev.kvasir.router.flow.RequestFlow;
import java.util.function.Consumer;

/**
 * What every request on its way needs of the gateway.
 *
 * @param book where a request that is over is written down; on the loop of the router
 */
record GatewayParts(
    LiveLoop loop,
    RequestFlow flow,
    GatewayWorkers workers,
    Upstream upstream,
    FailureRules rules,
    RequestReader reader,
    Consumer<Decision> book) {}
