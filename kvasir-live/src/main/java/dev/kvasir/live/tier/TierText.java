package dev.kvasir.live.tier;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.live.metrics.MetricsText;
import dev.kvasir.live.metrics.MetricsText.Label;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What the daemon tells of itself, as metrics and as JSON; on the loop. */
final class TierText {
  private static final String PREFIX = "kvasir_tier_";

  private final MetricsText text = new MetricsText();

  /** Everything, for Prometheus. */
  static String metrics(List<NamespaceCache> caches, Totals totals) {
    var text = new TierText();
    text.totals(totals);
    text.pools(caches);
    text.lookups(caches);
    text.stores(caches);
    text.loads(caches);
    text.below(caches);
    return text.text.toString();
  }

  /**
   * What is not of any namespace.
   *
   * @param refused connections that were closed at once
   */
  record Totals(
      int connections,
      long accepted,
      long refused,
      long namespacesReplaced,
      RespServer.@Nullable Counts resp) {}

  /** Figures of one namespace, for a client that asks for them. */
  static String json(NamespaceCache cache) {
    var counts = cache.counts();
    var text = new StringBuilder("{");
    text.append("\"namespace\":\"").append(cache.namespace().id()).append('"');
    number(text, "row_bytes", cache.namespace().rowBytes());
    for (var pool : cache.tiers().pools()) {
      number(text, word(pool.tier()) + "_chunks", used(pool));
      number(text, word(pool.tier()) + "_chunks_max", pool.total());
    }
    for (var store : cache.tiers().stores()) {
      number(text, word(store.tier()) + "_stored", store.stored());
    }
    number(text, "found", counts.foundAll());
    number(text, "missing", counts.missing);
    number(text, "slower", counts.slower);
    number(text, "stored", counts.stored);
    number(text, "present", counts.present);
    number(text, "dropped", counts.dropped);
    number(text, "over_quota", counts.overQuota);
    number(text, "kept_above", counts.keptAbove);
    number(text, "waiting", cache.waiting());
    number(text, "store_failed", counts.storeFailed);
    number(text, "loaded", counts.loadedAll());
    number(text, "load_missing", counts.loadMissing);
    number(text, "load_failed", counts.loadFailed);
    return text.append('}').toString();
  }

  private static void number(StringBuilder text, String name, long value) {
    text.append(",\"").append(name).append("\":").append(value);
  }

  private static String word(Tier tier) {
    return tier.name().toLowerCase(Locale.ROOT);
  }

  private static int used(BlockPool pool) {
    return pool.total() - pool.free();
  }

  private void totals(Totals totals) {
    text.gauge(PREFIX + "connections", "Connections of engines.", totals.connections());
    counter("connections_total", "Connections that were accepted.", totals.accepted());
    counter("connections_refused_total", "Connections that were refused.", totals.refused());
    counter(
        "namespaces_replaced_total",
        "Namespaces that gave way to others.",
        totals.namespacesReplaced());
    var resp = totals.resp();
    if (resp == null) return;
    counter("resp_connections_total", "Clients of Redis.", resp.connections.sum());
    counter("resp_connections_refused_total", "Clients of Redis refused.", resp.refused.sum());
    counter("resp_commands_total", "Commands of Redis.", resp.commands.sum());
    counter("resp_wrong_passwords_total", "Wrong passwords.", resp.wrongPasswords.sum());
  }

  private void counter(String name, String help, long value, Label... labels) {
    text.counter(PREFIX + name, help, value, labels);
  }

  private static Label space(NamespaceCache cache) {
    return new Label("namespace", cache.namespace().id());
  }

  private static Label tier(Tier tier) {
    return new Label("tier", word(tier));
  }

  private void pools(List<NamespaceCache> caches) {
    for (var cache : caches) {
      var model = new Label("model", cache.namespace().model());
      var weights = new Label("weights", cache.namespace().isStrong() ? "strong" : "weak");
      text.gauge(
          PREFIX + "namespace", "An open namespace, always 1.", 1, space(cache), model, weights);
    }
    for (var cache : caches) {
      for (var pool : cache.tiers().pools()) {
        double bytes = (double) used(pool) * cache.namespace().rowBytes();
        text.gauge(PREFIX + "bytes", "What a tier holds.", bytes, space(cache), tier(pool.tier()));
      }
    }
    for (var cache : caches) {
      for (var pool : cache.tiers().pools()) {
        double bytes = (double) pool.total() * cache.namespace().rowBytes();
        text.gauge(
            PREFIX + "bytes_max", "What a tier may hold.", bytes, space(cache), tier(pool.tier()));
      }
    }
    for (var cache : caches) {
      for (var pool : cache.tiers().pools()) {
        long evicted = pool.stats().evicted();
        counter(
            "evicted_total", "Chunks that made room.", evicted, space(cache), tier(pool.tier()));
      }
    }
  }

  private void lookups(List<NamespaceCache> caches) {
    for (var cache : caches) {
      perTier(cache, cache.counts().found, "found_total", "Keys that were found, by tier.");
    }
    for (var cache : caches) {
      counter("missing_total", "Keys not found.", cache.counts().missing, space(cache));
    }
    for (var cache : caches) {
      counter(
          "slower_total",
          "Keys found that are quicker to compute than to load.",
          cache.counts().slower,
          space(cache));
    }
    for (var cache : caches) {
      text.gauge(
          PREFIX + "compute_seconds_per_token",
          "How long engines take to compute a token of a prompt; 0 while not measured.",
          cache.costs().nanosPerToken() / 1e9,
          space(cache));
    }
    for (var cache : caches) {
      for (var pool : cache.tiers().pools()) {
        text.gauge(
            PREFIX + "load_seconds_per_chunk",
            "How long a chunk takes from a tier to host memory; 0 while not measured.",
            cache.costs().loadNanos(pool.tier(), 1) / 1e9,
            space(cache),
            tier(pool.tier()));
      }
    }
    for (var cache : caches) {
      text.histogram(
          PREFIX + "lookup_seconds",
          "Time of a batch of look-ups.",
          cache.counts().lookSeconds,
          space(cache));
    }
  }

  private void perTier(NamespaceCache cache, Map<Tier, Long> counts, String name, String help) {
    for (var pool : cache.tiers().pools()) {
      long count = counts.getOrDefault(pool.tier(), 0L);
      counter(name, help, count, space(cache), tier(pool.tier()));
    }
  }

  private void stores(List<NamespaceCache> caches) {
    for (var cache : caches) {
      var counts = cache.counts();
      stored(cache, "stored", counts.stored);
      stored(cache, "present", counts.present);
      stored(cache, "dropped", counts.dropped - counts.overQuota);
      stored(cache, "over_quota", counts.overQuota);
      stored(cache, "failed", counts.storeFailed);
    }
    for (var cache : caches) {
      counter(
          "kept_above_total",
          "Chunks evicted from host memory before the tier below could take them.",
          cache.counts().keptAbove,
          space(cache));
    }
    for (var cache : caches) {
      text.histogram(
          PREFIX + "store_seconds",
          "Time of a batch of stores.",
          cache.counts().storeSeconds,
          space(cache));
    }
  }

  private void stored(NamespaceCache cache, String outcome, long count) {
    counter(
        "stores_total",
        "Chunks to store, by what became of them.",
        count,
        space(cache),
        new Label("outcome", outcome));
  }

  private void loads(List<NamespaceCache> caches) {
    for (var cache : caches) {
      perTier(cache, cache.counts().loaded, "loaded_total", "Chunks that were loaded, by tier.");
    }
    for (var cache : caches) {
      var counts = cache.counts();
      unloaded(cache, "missing", counts.loadMissing);
      unloaded(cache, "failed", counts.loadFailed);
      unloaded(cache, "cancelled", counts.cancelled);
    }
    for (var cache : caches) {
      text.histogram(
          PREFIX + "load_seconds",
          "Time of a batch of loads.",
          cache.counts().loadSeconds,
          space(cache));
    }
  }

  private void unloaded(NamespaceCache cache, String outcome, long count) {
    counter(
        "not_loaded_total",
        "Chunks that were asked for and not loaded.",
        count,
        space(cache),
        new Label("outcome", outcome));
  }

  private void below(List<NamespaceCache> caches) {
    for (var cache : caches) {
      for (var store : cache.tiers().stores()) {
        copied(cache, store.tier(), "stored", store.stored());
        copied(cache, store.tier(), "loaded", store.loaded());
        copied(cache, store.tier(), "damaged", store.damaged());
        copied(cache, store.tier(), "failed", store.failed());
      }
    }
    for (var cache : caches) {
      for (var missing : cache.tiers().unavailable()) {
        text.gauge(
            PREFIX + "unavailable",
            "A tier that could not be opened, always 1.",
            1,
            space(cache),
            new Label("tier", missing));
      }
    }
  }

  private void copied(NamespaceCache cache, Tier tier, String outcome, long count) {
    counter(
        "copies_total",
        "Copies to and from a tier below host memory, by outcome.",
        count,
        space(cache),
        tier(tier),
        new Label("outcome", outcome));
  }
}
