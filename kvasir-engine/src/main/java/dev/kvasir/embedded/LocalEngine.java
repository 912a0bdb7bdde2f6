package dev.kvasir.embedded;

import dev.kvasir.engine.Engine;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.InFlight;
import dev.kvasir.net.server.Reply;
import dev.kvasir.net.worker.LocalWorker;
import dev.kvasir.net.worker.WorkerMessage;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * An engine that the gateway of this process calls; from any thread.
 *
 * <pre>
 *   serving --restart--> draining: new requests are refused --quiet, or out of patience-->
 *      ^                 what is left is broken off, the engine's own memory is emptied
 *      '---------------------------------------'
 *   close, from either --> stopped: takes nothing, what is left is broken off
 * </pre>
 */
public final class LocalEngine implements LocalWorker, AutoCloseable {
  private static final Duration SOON = Duration.ofSeconds(1);

  /** Interval at which to check whether blocks are still held by a transfer. */
  private static final Duration HELD_PACE = Duration.ofMillis(2);

  private final EmbeddedEngine engine;
  private final EngineApi api;
  private final InFlight inFlight = new InFlight();
  private final Set<Reply> underWay = ConcurrentHashMap.newKeySet();
  private volatile boolean stopped;

  public LocalEngine(Network network, EmbeddedEngine engine) {
    this.engine = engine;
    this.api = new EngineApi(network, engine, FaultInjection.NONE);
  }

  @Override
  public String name() {
    return engine.name();
  }

  @Override
  public boolean accept(WorkerMessage message, Reply reply) {
    inFlight.begins();
    underWay.add(reply);
    reply.whenOver(
        () -> {
          underWay.remove(reply);
          inFlight.ends();
        });
    // Asked after it is counted: whoever stops or drains sees the request, or it sees them.
    if (stopped) return false;
    if (inFlight.isDraining()) {
      var why = name() + " restarts; ask another one";
      reply.fail(ApiError.unavailable("draining", why, SOON));
    } else {
      reply.guard(() -> api.handle(message, reply));
    }
    return true;
  }

  @Override
  public void observe(Consumer<State> observer) {
    var card = api.modelCard();
    var models = Map.of(card.path("id").asString(), card.toString());
    engine
        .loop()
        .execute(
            () -> observer.accept(new State(!stopped && !engine.isBroken(), api.report(), models)));
  }

  /** Answers with its own metrics, as vLLM names them. */
  public void metrics(Reply reply) {
    api.metrics(reply);
  }

  /** Requests whose answer is not out. */
  public int inFlight() {
    return inFlight.count();
  }

  /**
   * Ends what is under way, as long as there is patience, and begins anew with nothing in the
   * engine's own memory. What it shares with others stays. Blocks.
   */
  public synchronized void restart(Duration patience) {
    inFlight.drain(patience);
    try {
      breakOff();
      forget(patience);
    } finally {
      inFlight.resume();
    }
  }

  private void breakOff() {
    for (var reply : underWay) reply.context().runOnContext(_ -> reply.reset());
  }

  private void forget(Duration patience) {
    var forgotten = new CountDownLatch(1);
    Runnable done =
        () -> {
          engine.resume();
          forgotten.countDown();
        };
    engine
        .loop()
        .execute(
            () -> engine.pause(Engine.PauseMode.WAIT, () -> empty(patience.dividedBy(2), done)));
    try {
      if (forgotten.await(patience.toNanos(), TimeUnit.NANOSECONDS)) return;
      throw new IllegalStateException(name() + " was still busy after " + patience);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Empties the engine's own memory, also of blocks on their way to another tier, if in time. */
  private void empty(Duration left, Runnable done) {
    engine.memory().clear();
    if (engine.memory().held() == 0 || left.isNegative()) done.run();
    else engine.loop().after(HELD_PACE, () -> empty(left.minus(HELD_PACE), done));
  }

  /** Takes nothing more; answers under way are broken off. */
  @Override
  public void close() {
    stopped = true;
    breakOff();
  }
}
