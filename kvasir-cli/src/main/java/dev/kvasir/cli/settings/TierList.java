package dev.kvasir.cli.settings;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.CustomSetting;
import dev.kvasir.cli.config.KeyPaths;
import dev.kvasir.cli.config.RecordReader;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.spec.Nearest;
import dev.kvasir.spec.SpecError;
import dev.kvasir.spec.Written;
import dev.kvasir.tiers.HostTier;
import dev.kvasir.tiers.TierConfig;
import dev.kvasir.tiers.TieredCacheSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * The tiers below the engines' own memory, from the fastest down.
 *
 * <p>In a file they are a list of sections, each with its {@code kind}. An option, a variable and a
 * sweep reach into the list by the kind, as in {@code tiers.host.blocks}; a tier that is not in the
 * list is added to it that way, and one of 0 blocks is left out.
 */
public final class TierList implements CustomSetting<TierList> {
  private static final String KIND = "kind";

  /** No tiers at all. */
  public static final TierList NONE = new TierList(List.of());

  /** Tiers of embedded engines if none are configured. */
  public static final TierList EMBEDDED =
      new TierList(List.of(Entry.usual(TierKind.HOST), Entry.usual(TierKind.DISK)));

  private final List<Entry> entries;

  private TierList(List<Entry> entries) {
    this.entries = List.copyOf(entries);
  }

  /**
   * Settings that a tier of any kind has.
   *
   * @param size its bytes; null for as many as its blocks take
   * @param link how it is reached, for the simulator; empty for the usual link of its kind
   * @param latency what a transfer takes before its first byte, for the simulator; null for the
   *     latency of the link
   */
  public record Facts(@Nullable Long size, String link, @Nullable Duration latency) {
    public static final Facts DEFAULT = new Facts(null, "", null);

    public Facts {
      if (size != null && size < 0)
        throw new IllegalArgumentException("size " + size + " is negative");
    }
  }

  /**
   * One tier.
   *
   * @param settings a record of its kind
   */
  public record Entry(TierKind kind, TierConfig settings, Facts facts) {
    static Entry usual(TierKind kind) {
      return new Entry(kind, kind.template(), Facts.DEFAULT);
    }

    /**
     * Returns the number of blocks of that many bytes that it holds; with 0 bytes, its size is not
     * counted.
     */
    public int blocks(long blockBytes) {
      if (facts.size == null || blockBytes == 0) return blocks();
      return (int) Math.min(Integer.MAX_VALUE, facts.size / blockBytes);
    }

    /** Returns whether it holds anything. */
    boolean isThere() {
      return facts.size == null ? blocks() > 0 : facts.size > 0;
    }

    /** The settings as a record, whose components are its keys. */
    public Record values() {
      return (Record) settings;
    }

    private int blocks() {
      return settings.blocks();
    }
  }

  public List<Entry> entries() {
    return entries;
  }

  /**
   * The tiers as engines open them.
   *
   * @param blockBytes what a block takes; 0 where it is not known, and then sizes are not counted
   */
  public TieredCacheSettings tieredCache(long blockBytes) {
    var tieredCache = TieredCacheSettings.of(0, 0);
    var lower = new ArrayList<TierConfig.Below>();
    for (var entry : entries) {
      switch (entry.settings.withBlocks(entry.blocks(blockBytes))) {
        case HostTier host -> tieredCache = new TieredCacheSettings(host, List.of());
        case TierConfig.Below tier -> lower.add(tier);
        default -> throw new IllegalStateException("no tier: " + entry);
      }
    }
    var order = new ArrayList<Tier>();
    for (var entry : entries) order.add(entry.kind.tier());
    return entries.isEmpty()
        ? tieredCache
        : new TieredCacheSettings(tieredCache.host(), lower).inOrder(order);
  }

  /** The list of a file by the kinds in it, as options and sweeps reach into it. */
  static Written.Keys named(Written list) {
    var named = new LinkedHashMap<String, Written>();
    var items =
        switch (list) {
          case Written.Items(var values, _) -> values;
          case Written.Blank _ -> List.<Written>of();
          default ->
              throw new SpecError(
                  list.origin().place() + ": tiers",
                  "this is not a list",
                  "write the tiers from the fastest down, each as '- kind: host' with its keys");
        };
    for (var item : items) {
      if (!(item instanceof Written.Keys keys)
          || !(keys.values().get(KIND) instanceof Written.Text kind)) {
        throw new SpecError(
            item.origin().place() + ": tiers",
            "a tier without a kind",
            "write kind: and one of " + String.join(", ", TierKind.words()));
      }
      requireKind(kind.text(), kind);
      if (named.put(kind.text(), keys) != null) {
        throw new SpecError(
            kind.origin().place() + ": tiers",
            "two tiers of kind " + kind.text(),
            "leave one of them out");
      }
    }
    return new Written.Keys(named, list.origin());
  }

  private static TierKind requireKind(String word, Written at) {
    for (var kind : TierKind.values()) if (kind.word().equals(word)) return kind;
    var near = Nearest.to(word, TierKind.words()).map(each -> "did you mean '" + each + "'?");
    throw new SpecError(
        at.origin().place() + ": tiers",
        "unknown kind of tier '" + word + "'",
        near.orElse("known kinds: " + String.join(", ", TierKind.words())));
  }

  /** These tiers as a file would name them, for others to be written over them. */
  Written.Keys written() {
    var origin = Written.Origin.of("the defaults");
    var named = new LinkedHashMap<String, Written>();
    for (var entry : entries) {
      var kind = new Written.Text(entry.kind.word(), origin);
      named.put(entry.kind.word(), Written.Keys.none(origin).with(KIND, kind));
    }
    return new Written.Keys(named, origin);
  }

  @Override
  public TierList read(String path, Written written) {
    if (!(written instanceof Written.Keys named)) return this;
    var order = new ArrayList<Entry>();
    for (var each : named.values().sequencedEntrySet()) {
      var kind = requireKind(each.getKey(), each.getValue());
      if (isNone(each.getValue())) {
        // All that lies below passes through host memory.
        if (kind == TierKind.HOST) return NONE;
        continue;
      }
      int at = order.size();
      // One that is not in the list stands above all slower kinds.
      while (!isListed(each.getValue()) && at > 0 && order.get(at - 1).kind.compareTo(kind) > 0) {
        at--;
      }
      order.add(at, entry(kind, path + "." + kind.word() + ".", each.getValue()));
    }
    return new TierList(order.stream().filter(Entry::isThere).toList());
  }

  private static boolean isListed(Written tier) {
    return tier instanceof Written.Keys keys && keys.values().containsKey(KIND);
  }

  /** Returns whether it is explicitly set to 0 blocks, which means no tier of any kind. */
  private static boolean isNone(Written written) {
    return written instanceof Written.Keys keys
        && !keys.values().containsKey("size")
        && keys.values().get("blocks") instanceof Written.Text(var blocks, _)
        && blocks.equals("0");
  }

  private static Entry entry(TierKind kind, String path, Written written) {
    var keys =
        switch (written) {
          case Written.Keys each -> each;
          case Written.Blank(var origin) -> Written.Keys.none(origin);
          default ->
              throw new SpecError(
                  written.origin().place() + ": " + path,
                  "this is not a section",
                  "name a key of the tier, as in " + path + "blocks");
        };
    var facts = new LinkedHashMap<String, Written>();
    var own = new LinkedHashMap<String, Written>(keys.values());
    own.remove(KIND);
    for (var name : KeyPaths.names(Facts.DEFAULT)) {
      var value = own.remove(name);
      if (value != null) facts.put(name, value);
    }
    return new Entry(
        kind,
        (TierConfig)
            RecordReader.read(path, new Written.Keys(own, keys.origin()), (Record) kind.template()),
        RecordReader.read(path, new Written.Keys(facts, keys.origin()), Facts.DEFAULT));
  }

  @Override
  public List<KeyPaths.Key> keys(String path) {
    var keys = new ArrayList<KeyPaths.Key>();
    for (var kind : TierKind.values()) {
      var above = path + "." + kind.word() + ".";
      keys.addAll(KeyPaths.of(above, (Record) kind.template()));
      keys.addAll(KeyPaths.of(above, Facts.DEFAULT));
    }
    return keys;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof TierList list && list.entries.equals(entries);
  }

  @Override
  public int hashCode() {
    return entries.hashCode();
  }

  @Override
  public String toString() {
    return entries.toString();
  }
}
