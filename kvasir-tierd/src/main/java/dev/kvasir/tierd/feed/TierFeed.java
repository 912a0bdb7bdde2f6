package dev.kvasir.tierd.feed;

import dev.kvasir.events.EngineEvent;
import dev.kvasir.events.EngineHash;
import dev.kvasir.events.KvEventForwarder;
import dev.kvasir.events.KvEventPublisher;
import dev.kvasir.events.PublisherSettings;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.KvSubscription;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.tiers.SharedTiers;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.zeromq.ZContext;

/**
 * Tells routers which chunks the tiers hold, all that were found on disk included.
 *
 * <pre>
 *   changes, changes, ... --half of what can be repeated--> a clearing and all that is held --.
 *      ^---------------------------------------------------------------------------------------'
 * </pre>
 *
 * <p>So a router that comes late, and asks for all that can be repeated, hears of everything.
 */
public final class TierFeed implements AutoCloseable {
  private static final int EVENTS_MAX = 1 << 16;
  private static final int HASHES_MAX = 1_024;

  private final EventLoop loop;
  private final ZContext sockets = new ZContext(1);
  private final KvEventPublisher publisher;
  private final int batchesMax;

  /** On the loop: the namespaces that are open. */
  private final Map<String, PublishedNamespace> namespaces = new LinkedHashMap<>();

  private int batches;
  private long dropped;

  /** Begins to listen for routers. */
  public TierFeed(EventLoop loop, FeedSettings settings) throws IOException {
    this.loop = loop;
    var usual = PublisherSettings.of(settings.endpoint(), settings.replay(), "");
    this.batchesMax = usual.replayBatchesMax() / 2;
    try {
      this.publisher = new KvEventPublisher(sockets, usual, InstantSource.system());
    } catch (IOException | RuntimeException e) {
      sockets.close();
      throw e;
    }
  }

  /** Batches sent. */
  public long published() {
    return publisher.published();
  }

  /** Batches that found the queue full; everything held is sent again then. */
  public long dropped() {
    return publisher.dropped();
  }

  /**
   * Publishes a namespace from now on, and what is on its disk; from any thread.
   *
   * @param id by which {@link #remove} knows it
   * @param chunkTokens how many tokens a chunk stands for
   * @param engineHash the engine's hash of a chunk's name
   */
  public void add(
      String id, SharedTiers tiers, int chunkTokens, UnaryOperator<BlockHash> engineHash) {
    loop.execute(() -> namespaces.put(id, new PublishedNamespace(tiers, chunkTokens, engineHash)));
    loop.execute(this::publishAll);
  }

  /** The namespace is closed; from any thread. */
  public void remove(String id) {
    loop.execute(
        () -> {
          var gone = namespaces.remove(id);
          if (gone == null) return;
          gone.subscription.close();
          publishAll();
        });
  }

  private enum Change {
    STORED,
    REMOVED
  }

  /** State of one namespace as it was published. */
  private final class PublishedNamespace {
    private final SharedTiers tiers;
    private final int chunkTokens;
    private final UnaryOperator<BlockHash> engineHash;
    private final Map<Tier, Set<BlockHash>> held = new EnumMap<>(Tier.class);
    private final KvSubscription subscription;

    PublishedNamespace(SharedTiers tiers, int chunkTokens, UnaryOperator<BlockHash> engineHash) {
      this.tiers = tiers;
      this.chunkTokens = chunkTokens;
      this.engineHash = engineHash;
      for (var tier : Tier.values()) held.put(tier, new LinkedHashSet<>());
      this.subscription =
          tiers.events().subscribe(EVENTS_MAX, () -> loop.execute(this::publishChanges));
      var disk = tiers.disk();
      if (disk == null) return;
      for (var found : disk.recovered()) on(Tier.DISK).add(found.block().hash());
      forgetGone();
    }

    private Set<BlockHash> on(Tier tier) {
      return held.getOrDefault(tier, Set.of());
    }

    /** Leaves what is still there. */
    private void forgetGone() {
      held.forEach((tier, names) -> names.removeIf(name -> !tiers.known().has(name, tier)));
    }

    private void publishChanges() {
      var changes = new ArrayList<EngineEvent>();
      var run = new Run(this, changes);
      for (var event : subscription.poll(EVENTS_MAX)) {
        switch (event) {
          case KvEvent.Stored(var tier, var block) -> {
            if (on(tier).add(block.hash())) run.add(Change.STORED, tier, block.hash());
          }
          case KvEvent.Removed(var tier, var name) -> {
            if (on(tier).remove(name)) run.add(Change.REMOVED, tier, name);
          }
          case KvEvent.Lost _ -> {
            forgetGone();
            dropped = -1; // All is told anew.
          }
        }
      }
      run.end();
      if (!changes.isEmpty()) publish(changes);
      if (batches >= batchesMax || dropped != publisher.dropped()) publishAll();
    }

    private EngineEvent stored(Tier tier, List<BlockHash> names) {
      return new EngineEvent.Stored(
          hashes(names),
          null,
          new int[0],
          chunkTokens,
          EngineEvent.Adapter.NONE,
          KvEventForwarder.place(tier),
          List.of(),
          EngineEvent.Group.ONLY);
    }

    private EngineEvent removed(Tier tier, List<BlockHash> names) {
      return new EngineEvent.Removed(hashes(names), KvEventForwarder.place(tier), null);
    }

    private List<EngineHash> hashes(List<BlockHash> names) {
      return names.stream().map(engineHash).map(EngineHash.Form.DIGEST::of).toList();
    }

    private void publishHeld() {
      held.forEach(
          (tier, names) -> {
            var some = new ArrayList<BlockHash>();
            for (var name : names) {
              some.add(name);
              if (some.size() == HASHES_MAX) publish(List.of(stored(tier, some)));
              if (some.size() == HASHES_MAX) some.clear();
            }
            if (!some.isEmpty()) publish(List.of(stored(tier, some)));
          });
    }
  }

  /** Changes of one kind on one tier, which become one event. */
  private static final class Run {
    private final PublishedNamespace of;
    private final List<EngineEvent> events;
    private final List<BlockHash> names = new ArrayList<>();
    private Change change = Change.STORED;
    private Tier tier = Tier.HOST;

    Run(PublishedNamespace of, List<EngineEvent> events) {
      this.of = of;
      this.events = events;
    }

    void add(Change what, Tier where, BlockHash name) {
      if (what != change || where != tier || names.size() == HASHES_MAX) end();
      change = what;
      tier = where;
      names.add(name);
    }

    void end() {
      if (names.isEmpty()) return;
      events.add(change == Change.STORED ? of.stored(tier, names) : of.removed(tier, names));
      names.clear();
    }
  }

  private void publish(List<EngineEvent> events) {
    batches++;
    publisher.publish(events);
  }

  private void publishAll() {
    batches = 0;
    dropped = publisher.dropped();
    publish(List.of(new EngineEvent.Cleared()));
    for (var namespace : namespaces.values()) namespace.publishHeld();
    batches = 0;
  }

  @Override
  public void close() {
    publisher.close();
    sockets.close();
  }
}
