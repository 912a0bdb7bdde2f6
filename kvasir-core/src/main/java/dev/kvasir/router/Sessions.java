package dev.kvasir.router;

import dev.kvasir.Nullable;
import dev.kvasir.router.placement.StickyLimits;
import java.util.LinkedHashMap;
import java.util.function.ObjIntConsumer;

/** The home instance of each session; the least recently used sessions are forgotten first. */
final class Sessions {
  private record Home(int instance, long usedNanos) {}

  private final StickyLimits limits;
  private final LinkedHashMap<String, Home> homes = new LinkedHashMap<>(16, 0.75f, true);

  Sessions(StickyLimits limits) {
    this.limits = limits;
  }

  int size() {
    return homes.size();
  }

  /** The instance of the session; null where it has none, or had it too long ago. */
  @Nullable
  Integer home(String session, long nowNanos) {
    var home = homes.get(session);
    if (home == null) return null;
    if (nowNanos - home.usedNanos < limits.lifetime().toNanos()) return home.instance;
    homes.remove(session);
    return null;
  }

  void settle(String session, int instance, long nowNanos) {
    if (session.isEmpty() || limits.sessionsMax() == 0) return;
    homes.put(session, new Home(instance, nowNanos));
    if (homes.size() > limits.sessionsMax()) homes.pollFirstEntry();
  }

  /** Ends the session; returns where it was at home, null for nowhere. */
  @Nullable
  Integer end(String session) {
    var home = homes.remove(session);
    return home == null ? null : home.instance;
  }

  /** The homes of those used last, up to a limit. */
  void latest(int most, ObjIntConsumer<String> each) {
    int count = 0;
    for (var home : homes.sequencedEntrySet().reversed()) {
      if (count++ == most) return;
      each.accept(home.getKey(), home.getValue().instance);
    }
  }

  /** The instance is gone; no session is at home there any more. */
  void evict(int instance) {
    homes.values().removeIf(home -> home.instance == instance);
  }
}
