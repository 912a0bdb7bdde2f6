package dev.kvasir.sim.page;

import dev.kvasir.sim.report.Comparison;
import dev.kvasir.sim.report.Goodput;
import java.util.List;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * A part of a sweep, as one of several processes has run it.
 *
 * @param asked what was asked of all parts
 * @param settings how many settings the whole sweep has
 * @param keys what is varied
 * @param places which of the settings these are, counted from 0
 * @param points a run for each of these places
 */
public record Shard(
    int version,
    RunDescription asked,
    int settings,
    List<String> keys,
    Goodput.Targets targets,
    double attainment,
    List<Integer> places,
    List<Comparison.Point> points) {
  /** The version that is written and read. */
  public static final int VERSION = 2;

  private static final JsonMapper JSON = new JsonMapper();

  public Shard {
    keys = List.copyOf(keys);
    places = List.copyOf(places);
    points = List.copyOf(points);
    if (version != VERSION) {
      throw new IllegalArgumentException(
          "it has version " + version + ", and this kvasir reads " + VERSION);
    }
    if (places.size() != points.size()) {
      throw new IllegalArgumentException(places.size() + " places for " + points.size() + " runs");
    }
  }

  /** As one line of JSON. */
  public String write() {
    return JSON.writeValueAsString(this);
  }

  /** Reads what {@link #write} wrote; the source is named in errors. */
  public static Shard read(String json, String source) {
    try {
      return JSON.readValue(json, Shard.class);
    } catch (JacksonException wrong) {
      throw new IllegalArgumentException(
          source + ": no part of a sweep; name files that 'simulate --shard' wrote", wrong);
    }
  }

  /** The whole sweep, from all its parts in any order. */
  public static Comparison merge(List<Shard> shards) {
    var first = shards.getFirst();
    var all = new TreeMap<Integer, Comparison.Point>();
    for (var shard : shards) {
      if (!shard.asked.equals(first.asked) || shard.settings != first.settings) {
        throw new IllegalArgumentException(
            "parts of different sweeps: '%s' and '%s'"
                .formatted(first.asked.command(), shard.asked.command()));
      }
      for (int i = 0; i < shard.places.size(); i++) {
        if (all.put(shard.places.get(i), shard.points.get(i)) == null) continue;
        throw new IllegalArgumentException("setting " + shard.places.get(i) + " is there twice");
      }
    }
    for (int place = 0; place < first.settings; place++) {
      if (all.containsKey(place)) continue;
      throw new IllegalArgumentException(
          "%d of %d settings are there; the first that is missing is number %d"
              .formatted(all.size(), first.settings, place));
    }
    return new Comparison(first.keys, List.copyOf(all.values()), first.targets, first.attainment);
  }
}
