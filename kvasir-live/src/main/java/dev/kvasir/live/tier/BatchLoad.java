package dev.kvasir.live.tier;

import static dev.kvasir.live.tier.TierProtocol.CHUNK_CANCELLED;
import static dev.kvasir.live.tier.TierProtocol.CHUNK_DONE;
import static dev.kvasir.live.tier.TierProtocol.CHUNK_FAILED;
import static dev.kvasir.live.tier.TierProtocol.CHUNK_MISSING;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.live.store.HostStore;
import dev.kvasir.offload.onboard.Onboarding;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * One load of many blocks into an engine's buffer, some at a time, so that it needs little of host
 * memory however long it is.
 *
 * <pre>
 *   begin --> onboard the next blocks --> copy them into their rows --> ... --> done
 *                 |                                                      ^
 *                 '-- a gap: that block is missing, go on behind it -----'
 * </pre>
 *
 * <p>After a few gaps the rest counts as missing: a tier that times out would make the engine wait
 * for each block in turn.
 */
final class BatchLoad {
  private static final int WINDOW_MAX = 256;
  private static final int WINDOW_SHARE = 8;
  private static final int GAPS_MAX = 4;
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final EventLoop loop;
  private final NamespaceCache cache;
  private final HostStore step;
  private final List<BlockHash> names;
  private final int[] rows;
  private final byte[] each;
  private final Consumer<byte[]> done;
  private final int window;
  private final long began;
  private int at;
  private int gaps;
  private boolean cancelled;
  private boolean ended;

  BatchLoad(
      EventLoop loop,
      NamespaceCache cache,
      HostStore step,
      List<BlockHash> names,
      int[] rows,
      Consumer<byte[]> done) {
    this.loop = loop;
    this.cache = cache;
    this.step = step;
    this.names = names;
    this.rows = rows;
    this.each = new byte[rows.length];
    this.done = done;
    this.window = Math.clamp(cache.tiers().host().total() / WINDOW_SHARE, 1, WINDOW_MAX);
    this.began = loop.nanos();
  }

  void begin() {
    next();
  }

  boolean isDone() {
    return ended;
  }

  /** Begins no further copies; what is being copied is finished. */
  void cancel() {
    cancelled = true;
  }

  private void next() {
    if (at == rows.length) {
      end();
    } else if (cancelled) {
      cache.counts().cancelled += rest(CHUNK_CANCELLED);
      end();
    } else if (gaps == GAPS_MAX) {
      cache.counts().loadMissing += rest(CHUNK_MISSING);
      end();
    } else {
      var some = names.subList(at, Math.min(names.size(), at + window));
      long asked = loop.nanos();
      cache
          .ladder()
          .find(
              some,
              PATIENCE,
              found -> {
                measure(found, loop.nanos() - asked);
                copy(some.size(), found);
              });
    }
  }

  /** Only what came from one tier below host memory says something about that. */
  private void measure(Onboarding.Found found, long nanos) {
    var from = found.arrivedFrom();
    if (from.isEmpty() || from.getFirst() == Tier.HOST) return;
    for (var tier : from) if (tier != from.getFirst()) return;
    cache.costs().loaded(from.getFirst(), from.size(), nanos);
  }

  private int rest(byte status) {
    int left = rows.length - at;
    Arrays.fill(each, at, rows.length, status);
    at = rows.length;
    return left;
  }

  private void end() {
    ended = true;
    cache.counts().loadSeconds.add(NamespaceCache.seconds(loop.nanos() - began));
    done.accept(each);
  }

  private void copy(int asked, Onboarding.Found found) {
    var blocks = found.blocks();
    var copies = new ArrayList<BlockCopy>(blocks.size());
    for (int i = 0; i < blocks.size(); i++) {
      copies.add(new BlockCopy(blocks.get(i).content(), rows[at + i], blocks.get(i).id()));
    }
    step.load(
        copies,
        outcomes -> {
          settle(found, outcomes);
          release(blocks);
          at += blocks.size();
          if (blocks.size() < asked) gap();
          next();
        });
  }

  private static void release(List<Block.Registered> blocks) {
    for (int i = blocks.size() - 1; i >= 0; i--) blocks.get(i).release();
  }

  private void settle(Onboarding.Found found, List<CopyOutcome> outcomes) {
    for (int i = 0; i < outcomes.size(); i++) {
      boolean copied = outcomes.get(i) instanceof CopyOutcome.Copied;
      each[at + i] = copied ? CHUNK_DONE : CHUNK_FAILED;
      if (copied) CacheCounts.add(cache.counts().loaded, found.tiers().get(i), 1);
      else cache.counts().loadFailed++;
    }
  }

  private void gap() {
    each[at++] = CHUNK_MISSING;
    cache.counts().loadMissing++;
    gaps++;
  }
}
