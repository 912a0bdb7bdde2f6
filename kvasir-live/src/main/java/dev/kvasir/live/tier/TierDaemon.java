package dev.kvasir.live.tier;

import dev.kvasir.live.LiveLoop;
import dev.kvasir.live.Owned;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/** KV tiers for the engines of one machine, in this process until it is closed. */
public final class TierDaemon implements AutoCloseable {
  private final Owned owned = new Owned();
  private final LiveLoop loop;
  private final NamespaceCaches caches;
  private final TierServer server;

  private TierDaemon(TierSettings settings) throws IOException {
    this.loop = owned.add(new LiveLoop("kvasir-tier"));
    this.caches = owned.add(new NamespaceCaches(loop, settings));
    try {
      this.server = owned.add(TierServer.open(loop, caches, settings));
    } catch (IOException | RuntimeException e) {
      owned.close();
      throw e;
    }
  }

  /** Begins to listen. */
  public static TierDaemon open(TierSettings settings) throws IOException {
    return new TierDaemon(settings);
  }

  /** What it does, for Prometheus; from any thread but the loop's. */
  public String metrics() {
    var all = caches.all();
    var totals =
        new TierText.Totals(
            server.connections(), server.accepted.sum(), server.refused.sum(), caches.replaced());
    var text = new CompletableFuture<String>();
    loop.execute(() -> text.complete(TierText.metrics(all, totals)));
    return text.join();
  }

  /** Ends the connections, then lets go of the tiers. */
  @Override
  public void close() {
    owned.close();
  }
}
