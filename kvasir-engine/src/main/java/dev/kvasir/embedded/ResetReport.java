package dev.kvasir.embedded;

import dev.kvasir.Nullable;
import dev.kvasir.net.Json;
import java.util.List;

/**
 * Result of a reset of the caches.
 *
 * @param parts each memory and tier that was to be reset
 */
public record ResetReport(List<Part> parts) {
  /**
   * One memory or tier.
   *
   * @param name such as {@code engine-0}, {@code disk} or {@code remote}
   * @param blocks how many blocks it had
   * @param failure why it could not be reset; null if it was
   */
  public record Part(String name, long blocks, @Nullable String failure) {}

  public ResetReport {
    parts = List.copyOf(parts);
  }

  /** Returns whether all of it was reset. */
  public boolean isComplete() {
    return parts.stream().allMatch(part -> part.failure() == null);
  }

  /** The report as it is answered: 200 if all was reset, else 503. */
  public String json() {
    var list = Json.array();
    long blocks = 0;
    for (var part : parts) {
      var entry = Json.object().put("tier", part.name()).put("blocks", part.blocks());
      entry.put("reset", part.failure() == null);
      if (part.failure() != null) entry.put("reason", part.failure());
      list.add(entry);
      blocks += part.blocks();
    }
    var report = Json.object().put("complete", isComplete()).put("blocks", blocks);
    report.set("tiers", list);
    return report.toString();
  }

  public int status() {
    return isComplete() ? 200 : 503;
  }
}
