package dev.kvasir.tierd.cache;

import static dev.kvasir.tierd.protocol.TierProtocol.CHUNK_CANCELLED;
import static dev.kvasir.tierd.protocol.TierProtocol.CHUNK_DONE;
import static dev.kvasir.tierd.protocol.TierProtocol.CHUNK_FAILED;
import static dev.kvasir.tierd.protocol.TierProtocol.CHUNK_MISSING;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.offload.onboard.Onboarding;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.tiers.host.HostStore;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * One load of many blocks into an engine's buffer, in windows of which several are under way: while
 * one is copied into its rows, others are read from the tiers below. So no thread waits for the
 * slowest block of a window, and a load needs little of host memory however long it is.
 *
 * <pre>
 *   begin --> windows, several at a time --> done when the last of them is
 *
 *   window: bring its blocks into host memory --> copy them into their rows --> done
 *               |                                                               ^
 *               '-- a gap: that block is missing, go on behind it --------------'
 * </pre>
 *
 * <p>After a few gaps the rest counts as missing: a tier that times out would make the engine wait
 * for each block in turn.
 */
public final class BatchLoad {
  private static final int WINDOW_MAX = 32;
  private static final int WINDOWS_MAX = 8;

  /** Small enough that a window is checked and copied while a disk reads the next ones. */
  private static final int WINDOW_BYTES = 16 << 20;

  /** Divisor for the share of host memory that one load may need for what comes from below. */
  private static final int HOST_SHARE = 8;

  /** Of a load that found so much less in host memory, the time is that of the tier below. */
  private static final int MOSTLY = 8;

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
  private final int windowsMax;
  private final long began;
  private final Map<Tier, Integer> from = new EnumMap<>(Tier.class);
  private int next;
  private int windows;
  private int gaps;
  private int loaded;
  private boolean cancelled;
  private boolean ended;

  public BatchLoad(
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
    int share = Math.max(1, cache.tiers().host().total() / HOST_SHARE);
    int chunks = Math.min(share / 2, WINDOW_BYTES / cache.namespace().rowBytes());
    this.window = Math.clamp(chunks, 1, WINDOW_MAX);
    this.windowsMax = Math.clamp(share / window, 1, WINDOWS_MAX);
    this.began = loop.nanos();
  }

  public void begin() {
    advance();
  }

  public boolean isDone() {
    return ended;
  }

  /** Begins no further copies; what is being copied is finished. */
  public void cancel() {
    cancelled = true;
  }

  private boolean isStopped() {
    return cancelled || gaps >= GAPS_MAX;
  }

  private void advance() {
    while (windows < windowsMax && next < rows.length && !isStopped()) {
      var one = new Window(next, Math.min(rows.length, next + window));
      next = one.end;
      windows++;
      one.advance();
    }
    if (windows > 0 || ended) return;
    leave(next, rows.length);
    end();
  }

  /** Nobody loads these any more. */
  private void leave(int start, int end) {
    Arrays.fill(each, start, end, cancelled ? CHUNK_CANCELLED : CHUNK_MISSING);
    if (cancelled) cache.counts().cancelled += end - start;
    else cache.counts().loadMissing += end - start;
  }

  private void end() {
    ended = true;
    long nanos = loop.nanos() - began;
    measure(nanos);
    cache.saved(loaded, nanos);
    cache.counts().loadSeconds.add(NamespaceCache.seconds(nanos));
    done.accept(each);
  }

  /** Only what came from one tier below host memory says something about that. */
  private void measure(long nanos) {
    int above = from.getOrDefault(Tier.HOST, 0);
    from.remove(Tier.HOST);
    if (isStopped() || from.size() != 1) return;
    from.forEach(
        (tier, chunks) -> {
          if (above * MOSTLY <= chunks) cache.costs().loaded(tier, chunks, nanos);
        });
  }

  /** Some blocks of the load that are brought up together. */
  private final class Window {
    private final int end;
    private int at;

    Window(int start, int end) {
      this.at = start;
      this.end = end;
    }

    void advance() {
      if (at < end && !isStopped()) {
        cache.tieredCache().find(names.subList(at, end), PATIENCE, this::copy);
        return;
      }
      leave(at, end);
      windows--;
      BatchLoad.this.advance();
    }

    private void copy(Onboarding.Found found) {
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
            if (at < end) gap();
            advance();
          });
    }

    private void settle(Onboarding.Found found, List<CopyOutcome> outcomes) {
      for (int i = 0; i < outcomes.size(); i++) {
        boolean copied = outcomes.get(i) instanceof CopyOutcome.Copied;
        each[at + i] = copied ? CHUNK_DONE : CHUNK_FAILED;
        var tier = found.tiers().get(i);
        from.merge(tier, 1, Integer::sum);
        if (copied) {
          loaded++;
          cache.counts().loaded.merge(tier, 1L, Long::sum);
        } else {
          cache.counts().loadFailed++;
        }
      }
    }

    private void gap() {
      each[at++] = CHUNK_MISSING;
      cache.counts().loadMissing++;
      gaps++;
    }
  }

  private static void release(List<Block.Registered> blocks) {
    for (int i = blocks.size() - 1; i >= 0; i--) blocks.get(i).release();
  }
}
