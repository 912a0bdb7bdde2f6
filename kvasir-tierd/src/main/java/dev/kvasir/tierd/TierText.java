package dev.kvasir.tierd;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.EvictionLimits;
import dev.kvasir.kv.evict.policy.LearnedStats;
import dev.kvasir.net.metrics.MetricSet;
import dev.kvasir.net.metrics.MetricSet.Rows;
import dev.kvasir.net.metrics.MetricsText;
import dev.kvasir.net.metrics.MetricsText.Label;
import dev.kvasir.offload.state.StoreTally;
import dev.kvasir.tierd.cache.NamespaceCache;
import dev.kvasir.tierd.resp.RespServer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The metrics and the JSON figures of the daemon; on the loop. */
public final class TierText {
  public static final MetricSet<Source> METRICS =
      new MetricSet<Source>()
          .once(TierText::totals)
          .per(
              s -> s.totals.resp() == null ? List.of() : List.of(s.totals.resp()),
              _ -> List.of(),
              TierText::resp)
          .per(
              Source::caches,
              TierText::model,
              rows -> rows.gauge("kvasir_tier_namespace", "An open namespace, always 1.", _ -> 1))
          .per(TierText::pools, Pool::labels, TierText::pools)
          .per(Source::caches, TierText::space, TierText::lookups)
          .per(TierText::lengths, Length::labels, TierText::lengths)
          .per(Source::caches, TierText::space, TierText::stores)
          .per(Source::caches, TierText::space, TierText::loads)
          .per(TierText::copies, Copies::labels, TierText::copies)
          .per(TierText::missing, row -> row, TierText::missing);

  private TierText() {}

  /** Everything, for Prometheus. */
  static String metrics(List<NamespaceCache> caches, Totals totals) {
    var text = new MetricsText();
    METRICS.write(new Source(caches, totals), text);
    return text.toString();
  }

  /** Source from which the metrics are read. */
  record Source(List<NamespaceCache> caches, Totals totals) {}

  /**
   * Figures that belong to no namespace.
   *
   * @param refused connections that were closed at once
   * @param published batches of events that routers were told
   * @param unpublished those that there was no room for
   */
  record Totals(
      int connections,
      long accepted,
      long refused,
      long namespacesReplaced,
      long published,
      long unpublished,
      RespServer.@Nullable Counts resp) {}

  /** Figures of one namespace, for a client that asks for them. */
  static String json(NamespaceCache cache) {
    var counts = cache.counts();
    var text = new StringBuilder("{");
    text.append("\"namespace\":\"").append(cache.namespace().id()).append('"');
    number(text, "row_bytes", cache.namespace().rowBytes());
    for (var pool : cache.tiers().pools()) {
      number(text, pool.tier().word() + "_chunks", used(pool));
      number(text, pool.tier().word() + "_chunks_max", pool.total());
    }
    for (var store : cache.tiers().stores()) {
      number(text, store.tier().word() + "_stored", store.stored());
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

  private static int used(BlockPool pool) {
    return pool.total() - pool.free();
  }

  private static void totals(Rows<Source> rows) {
    rows.gauge("kvasir_tier_connections", "Connections of engines.", s -> s.totals.connections())
        .counter(
            "kvasir_tier_connections_total",
            "Connections that were accepted.",
            s -> s.totals.accepted())
        .counter(
            "kvasir_tier_connections_refused_total",
            "Connections that were refused.",
            s -> s.totals.refused())
        .counter(
            "kvasir_tier_namespaces_replaced_total",
            "Namespaces that gave way to others.",
            s -> s.totals.namespacesReplaced())
        .counter(
            "kvasir_tier_event_batches_total",
            "Batches of events sent to routers.",
            s -> s.totals.published())
        .counter(
            "kvasir_tier_event_batches_dropped_total",
            "Batches that found the queue full; everything held is sent again then.",
            s -> s.totals.unpublished());
  }

  private static void resp(Rows<RespServer.Counts> rows) {
    rows.counter(
            "kvasir_tier_resp_connections_total", "Clients of Redis.", c -> c.connections.sum())
        .counter(
            "kvasir_tier_resp_connections_refused_total",
            "Clients of Redis refused.",
            c -> c.refused.sum())
        .counter("kvasir_tier_resp_commands_total", "Commands of Redis.", c -> c.commands.sum())
        .counter(
            "kvasir_tier_resp_wrong_passwords_total",
            "Wrong passwords.",
            c -> c.wrongPasswords.sum())
        .counter(
            "kvasir_tier_resp_slow_total",
            "Clients of Redis that were too slow and disconnected.",
            c -> c.slow.sum());
  }

  private static List<Label> space(NamespaceCache cache) {
    return List.of(new Label("namespace", cache.namespace().id()));
  }

  private static List<Label> model(NamespaceCache cache) {
    return List.of(
        new Label("namespace", cache.namespace().id()),
        new Label("model", cache.namespace().model()),
        new Label("weights", cache.namespace().isStrong() ? "strong" : "weak"));
  }

  /** A tier of a namespace. */
  private record Pool(NamespaceCache cache, BlockPool pool) {
    List<Label> labels() {
      return tier(cache, pool.tier().word());
    }

    double bytes(int chunks) {
      return (double) chunks * cache.namespace().rowBytes();
    }

    double loadSeconds() {
      return cache.costs().loadNanos(pool.tier(), 1) / 1e9;
    }
  }

  private static List<Label> tier(NamespaceCache cache, String name) {
    return List.of(new Label("namespace", cache.namespace().id()), new Label("tier", name));
  }

  private static List<Pool> pools(Source source) {
    return source.caches.stream()
        .flatMap(cache -> cache.tiers().pools().stream().map(pool -> new Pool(cache, pool)))
        .toList();
  }

  private static void pools(Rows<Pool> rows) {
    rows.gauge("kvasir_tier_bytes", "What a tier holds.", p -> p.bytes(used(p.pool)))
        .gauge("kvasir_tier_bytes_max", "What a tier may hold.", p -> p.bytes(p.pool.total()))
        .gauge(
            "kvasir_tier_learned_segments",
            "Groups of chunks that learned eviction distinguishes; 0 for other policies.",
            p -> p.pool.learned().map(LearnedStats::segments).orElse(0))
        .counter(
            "kvasir_tier_evicted_total", "Chunks that made room.", p -> p.pool.stats().evicted())
        .counter(
            "kvasir_tier_expired_total",
            "Chunks that were dropped, because nobody loaded them within ttl.",
            p -> p.pool.limits().map(EvictionLimits.Stats::expired).orElse(0L))
        .gauge(
            "kvasir_tier_load_seconds_per_chunk",
            "How long a chunk takes from a tier to host memory; 0 while not measured.",
            Pool::loadSeconds)
        .counter(
            "kvasir_tier_found_total",
            "Keys that were found, by tier.",
            p -> p.cache.counts().found.getOrDefault(p.pool.tier(), 0L))
        .counter(
            "kvasir_tier_loaded_total",
            "Chunks that were loaded, by tier.",
            p -> p.cache.counts().loaded.getOrDefault(p.pool.tier(), 0L));
  }

  private static void lookups(Rows<NamespaceCache> rows) {
    rows.counter("kvasir_tier_missing_total", "Keys not found.", c -> c.counts().missing)
        .counter(
            "kvasir_tier_slower_total",
            "Keys found that are quicker to compute than to load.",
            c -> c.counts().slower)
        .histogram(
            "kvasir_tier_lookup_seconds",
            "Time of a batch of look-ups.",
            c -> c.counts().lookSeconds);
  }

  /** Cost of computing prompts of a length: so many tokens or more, up to twice as many. */
  private record Length(NamespaceCache cache, long tokens, double nanosPerToken) {
    List<Label> labels() {
      var length = new Label("tokens", String.valueOf(tokens));
      return List.of(new Label("namespace", cache.namespace().id()), length);
    }
  }

  private static List<Length> lengths(Source source) {
    var lengths = new ArrayList<Length>();
    for (var cache : source.caches) {
      cache
          .costs()
          .measured()
          .forEach((tokens, nanos) -> lengths.add(new Length(cache, tokens, nanos)));
    }
    return lengths;
  }

  private static void lengths(Rows<Length> rows) {
    rows.gauge(
        "kvasir_tier_compute_seconds_per_token",
        "How long engines take for a token of a prompt of at least this many tokens.",
        length -> length.nanosPerToken / 1e9);
  }

  private static void stores(Rows<NamespaceCache> rows) {
    rows.counters(
            "kvasir_tier_stores_total", "Chunks to store, by outcome.", "outcome", TierText::stored)
        .counter(
            "kvasir_tier_kept_above_total",
            "Chunks evicted from host memory before the tier below could take them.",
            c -> c.counts().keptAbove)
        .histogram(
            "kvasir_tier_store_seconds",
            "Time of a batch of stores.",
            c -> c.counts().storeSeconds);
  }

  private static Map<String, Long> stored(NamespaceCache cache) {
    var counts = cache.counts();
    var outcomes = new LinkedHashMap<String, Long>();
    outcomes.put("stored", counts.stored);
    outcomes.put("present", counts.present);
    outcomes.put("dropped", counts.dropped - counts.overQuota);
    outcomes.put("over_quota", counts.overQuota);
    outcomes.put("failed", counts.storeFailed);
    return outcomes;
  }

  private static void loads(Rows<NamespaceCache> rows) {
    rows.seconds(
            "kvasir_tier_saved_seconds_total",
            "What computing the loaded chunks would have taken, less what loading them took.",
            c -> c.counts().savedSeconds)
        .gauge("kvasir_tier_tenants", "Tenants that have chunks.", c -> c.tenants().counts().size())
        .counters(
            "kvasir_tier_not_loaded_total",
            "Chunks that were asked for and not loaded.",
            "outcome",
            TierText::unloaded)
        .histogram(
            "kvasir_tier_load_seconds", "Time of a batch of loads.", c -> c.counts().loadSeconds);
  }

  private static Map<String, Long> unloaded(NamespaceCache cache) {
    var counts = cache.counts();
    var outcomes = new LinkedHashMap<String, Long>();
    outcomes.put("missing", counts.loadMissing);
    outcomes.put("failed", counts.loadFailed);
    outcomes.put("cancelled", counts.cancelled);
    return outcomes;
  }

  /** Counts of what a store below host memory did for a namespace. */
  private record Copies(NamespaceCache cache, StoreTally store) {
    List<Label> labels() {
      return tier(cache, store.tier().word());
    }

    Map<String, Long> outcomes() {
      var outcomes = new LinkedHashMap<String, Long>();
      outcomes.put("stored", store.stored());
      outcomes.put("loaded", store.loaded());
      outcomes.put("damaged", store.damaged());
      outcomes.put("failed", store.failed());
      outcomes.put("refused", store.refused());
      return outcomes;
    }
  }

  private static List<Copies> copies(Source source) {
    return source.caches.stream()
        .flatMap(cache -> cache.tiers().stores().stream().map(store -> new Copies(cache, store)))
        .toList();
  }

  private static void copies(Rows<Copies> rows) {
    rows.counters(
        "kvasir_tier_copies_total",
        "Copies to and from a tier below host memory, by outcome.",
        "outcome",
        Copies::outcomes);
  }

  private static List<List<Label>> missing(Source source) {
    return source.caches.stream()
        .flatMap(cache -> cache.tiers().unavailable().stream().map(name -> tier(cache, name)))
        .toList();
  }

  private static void missing(Rows<List<Label>> rows) {
    rows.gauge("kvasir_tier_unavailable", "A tier that could not be opened, always 1.", _ -> 1);
  }
}
