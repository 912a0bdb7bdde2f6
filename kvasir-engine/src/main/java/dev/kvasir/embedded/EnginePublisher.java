package dev.kvasir.embedded;

import dev.kvasir.events.EngineHash;
import dev.kvasir.events.KvEventForwarder;
import dev.kvasir.events.KvEventPublisher;
import dev.kvasir.events.PublisherSettings;
import dev.kvasir.kv.event.KvEvents;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.zeromq.ZContext;

/** Publishes the KV events of an engine, for all of its tiers. */
public final class EnginePublisher implements AutoCloseable {
  private static final int EVENTS_MAX = 100_000;

  private final EmbeddedEngine engine;
  private final KvEventPublisher publisher;
  private final List<KvEventForwarder> forwarders = new ArrayList<>();

  /** Begins to tell of the engine's own memory and of what lies below it. */
  public EnginePublisher(
      ZContext sockets, PublisherSettings settings, EmbeddedEngine engine, List<KvEvents> below)
      throws IOException {
    this.engine = engine;
    this.publisher = new KvEventPublisher(sockets, settings, InstantSource.system());
    engine
        .loop()
        .execute(
            () -> {
              forward(engine.events());
              below.forEach(this::forward);
            });
  }

  private void forward(KvEvents events) {
    forwarders.add(
        new KvEventForwarder(
            engine.loop(), events, EVENTS_MAX, EngineHash.Form.WORD, publisher::publish));
  }

  /** Returns the endpoint that subscribers connect to. */
  public String endpoint() {
    return publisher.endpoint();
  }

  /** Returns the endpoint at which subscribers ask for what they missed. */
  public String replayEndpoint() {
    return publisher.replayEndpoint();
  }

  /** Returns how many batches of events were published. */
  public long published() {
    return publisher.published();
  }

  @Override
  public void close() {
    engine.loop().execute(() -> forwarders.forEach(KvEventForwarder::close));
    publisher.close();
  }
}
