package dev.kvasir.tierd.feed;

import dev.kvasir.events.EngineBlocks;
import dev.kvasir.events.EngineEvent;
import dev.kvasir.events.EngineHash;
import dev.kvasir.events.KvEventSubscriber;
import dev.kvasir.events.SubscriberSettings;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.router.index.BlockUnits;
import dev.kvasir.router.index.ChunkUnits;
import dev.kvasir.router.index.KvFeed;
import java.io.IOException;

/**
 * Listens to what a tier daemon holds, for the workers above it; belongs to the loop of the router.
 */
public final class TierFeedReader implements AutoCloseable {
  private static final int BLOCKS_MAX = 1 << 20;

  private final ChunkUnits<Long> chunks = new ChunkUnits<>(BLOCKS_MAX);
  private final KvEventSubscriber subscriber;

  private TierFeedReader(LiveLoop loop, SubscriberSettings settings) throws IOException {
    this.subscriber = new KvEventSubscriber(loop, settings, new Held());
  }

  /** Begins to listen. */
  public static TierFeedReader open(LiveLoop loop, SubscriberSettings settings) throws IOException {
    return new TierFeedReader(loop, settings);
  }

  /** Into what the daemon tells. */
  private final class Held implements KvFeed.Target<EngineEvent> {
    @Override
    public void on(EngineEvent event) {
      switch (event) {
        case EngineEvent.Stored stored -> {
          var tier = EngineBlocks.tier(stored.place());
          if (tier == null) return;
          for (var hash : stored.hashes()) {
            chunks.stored(hash.lastBits(), stored.blockTokens(), tier);
          }
        }
        case EngineEvent.Removed removed -> {
          var tier = EngineBlocks.tier(removed.place());
          if (tier == null) return;
          for (var hash : removed.hashes()) chunks.removed(hash.lastBits(), tier);
        }
        case EngineEvent.Cleared _ -> forget();
      }
    }

    @Override
    public void forget() {
      chunks.clear();
    }
  }

  /** A worker has told the tokens of the block. */
  public void learn(BlockUnits.Block<EngineHash> block) {
    var parent = block.parentKey();
    chunks.learn(
        block.key().lastBits(),
        parent == null ? null : parent.lastBits(),
        block.length(),
        block.units());
  }

  /** From now on the worker is told. */
  public void add(KvFeed.Target<KvEvent> worker) {
    chunks.add(worker);
  }

  public void remove(KvFeed.Target<KvEvent> worker) {
    chunks.remove(worker);
  }

  /** Returns how many chunks the daemon holds. */
  public int chunks() {
    return chunks.size();
  }

  /** Returns how many chunks were told of before a worker had told their tokens. */
  public long unknown() {
    return chunks.unknown();
  }

  /** Returns how many blocks and chunks were forgotten for want of room. */
  public long forgotten() {
    return chunks.forgotten();
  }

  @Override
  public void close() {
    subscriber.close();
  }
}
