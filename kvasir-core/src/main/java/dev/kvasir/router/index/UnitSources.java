package dev.kvasir.router.index;

import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Merges two sources of one worker's units: the worker itself, and the tier daemon below it. A unit
 * is on a tier as long as one of them reports it.
 *
 * <pre>
 *   worker --own()----.
 *                      >--> index
 *   daemon --below()--'
 * </pre>
 *
 * <p>Only the worker reports what is in its own memory. When nothing of what one of them reported
 * can be relied on, what the other reported stays. Belongs to one loop.
 */
public final class UnitSources {
  private static final int OWN = 1;
  private static final int BELOW = 2;

  private final BlockUnits.Target target;

  /** Sources that reported a unit, as bits for each tier but the engine's own memory. */
  private final Map<BlockHash, byte[]> reported = new LinkedHashMap<>();

  public UnitSources(BlockUnits.Target target) {
    this.target = target;
  }

  /** Takes what the worker reports. */
  public BlockUnits.Target own() {
    return new BlockUnits.Target() {
      @Override
      public void on(KvEvent event) {
        apply(OWN, event);
      }

      @Override
      public void forget() {
        target.forget();
        drop(OWN);
        reported.forEach(UnitSources.this::repeat);
      }

      @Override
      public void grain(int tokens) {
        target.grain(tokens);
      }

      @Override
      public void needsEnds() {
        target.needsEnds();
      }

      @Override
      public void end(BlockHash unit) {
        target.end(unit);
      }

      @Override
      public void noEnd(BlockHash unit) {
        target.noEnd(unit);
      }
    };
  }

  /** Takes what the daemon reports. */
  public KvFeed.Target<KvEvent> below() {
    return new KvFeed.Target<>() {
      @Override
      public void on(KvEvent event) {
        apply(BELOW, event);
      }

      @Override
      public void forget() {
        for (var unit : List.copyOf(reported.keySet())) {
          for (var tier : Tier.values()) apply(BELOW, new KvEvent.Removed(tier, unit));
        }
      }
    };
  }

  private void apply(int source, KvEvent event) {
    switch (event) {
      case KvEvent.Stored(var tier, var block) -> {
        if (tier == Tier.DEVICE) target.on(event);
        else if (add(source, tier, block.hash())) target.on(event);
      }
      case KvEvent.Removed(var tier, var hash) -> {
        if (tier == Tier.DEVICE && source == OWN) target.on(event);
        else if (remove(source, tier, hash)) target.on(event);
      }
      case KvEvent.Lost _ -> target.on(event);
    }
  }

  /** Adds the source; returns whether none had reported the unit before. */
  private boolean add(int source, Tier tier, BlockHash unit) {
    var sources = reported.computeIfAbsent(unit, _ -> new byte[Tier.values().length]);
    int before = sources[tier.level()];
    sources[tier.level()] |= (byte) source;
    return before == 0;
  }

  /** Removes the source; returns whether none reports the unit any more. */
  private boolean remove(int source, Tier tier, BlockHash unit) {
    var sources = reported.get(unit);
    if (sources == null || (sources[tier.level()] & source) == 0) return false;
    sources[tier.level()] &= (byte) ~source;
    if (isBare(sources)) reported.remove(unit);
    return sources[tier.level()] == 0;
  }

  private void drop(int source) {
    for (var sources : reported.values()) {
      for (int level = 0; level < sources.length; level++) sources[level] &= (byte) ~source;
    }
    reported.values().removeIf(UnitSources::isBare);
  }

  private static boolean isBare(byte[] sources) {
    for (byte each : sources) if (each != 0) return false;
    return true;
  }

  private void repeat(BlockHash unit, byte[] sources) {
    for (var tier : Tier.values()) {
      if (sources[tier.level()] == 0) continue;
      target.on(new KvEvent.Stored(tier, TokenBlock.named(unit, null, 0)));
    }
  }
}
