package dev.kvasir.kv.evict;

import dev.kvasir.kv.evict.learned.LearnedEviction;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** All eviction policies: the name, a short description, and the factory of each. */
public enum EvictionKind {
  LINEAGE("lineage", "ends of chains first", _ -> LineageEviction::new),
  LRU("lru", "least recently released first", _ -> slots -> new LruEviction(slots.count())),
  FIFO("fifo", "first stored first", _ -> slots -> new FifoEviction(slots.count())),
  MULTI_LRU("multi-lru", "seldom used first", Eviction::multiLru),
  S3_FIFO("s3-fifo", "newcomers that nobody used again first", _ -> Eviction.s3Fifo()),
  LEARNED("learned", "least likely to return first, as learnt", _ -> LearnedEviction::new);

  /** The names, the default first. */
  public static final List<String> NAMES = Arrays.stream(values()).map(kind -> kind.title).toList();

  private final String title;
  private final String description;

  @SuppressWarnings("ImmutableEnumChecker") // It keeps nothing.
  private final Function<FrequencySketch, Eviction> factory;

  EvictionKind(String title, String description, Function<FrequencySketch, Eviction> factory) {
    this.title = title;
    this.description = description;
    this.factory = factory;
  }

  public static EvictionKind named(String name) {
    for (var kind : values()) {
      if (kind.title.equals(name)) return kind;
    }
    throw new IllegalArgumentException("no eviction \"" + name + "\", use one of " + NAMES);
  }

  /** By which users choose it. */
  public String title() {
    return title;
  }

  /** Returns a few words that say which block goes first. */
  public String description() {
    return description;
  }

  /**
   * The order itself.
   *
   * @param sketch what the registry of the pools counts uses with; only multi-lru asks it
   */
  public Eviction eviction(FrequencySketch sketch) {
    return factory.apply(sketch);
  }
}
