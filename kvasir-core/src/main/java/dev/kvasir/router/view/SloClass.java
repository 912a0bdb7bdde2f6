package dev.kvasir.router.view;

import java.util.Locale;

/** Importance of a request to its sender; less important ones are refused earlier. */
public enum SloClass {
  CRITICAL(4),
  STANDARD(3),
  BATCH(-1),
  SHEDDABLE(-2),
  BACKGROUND(-3);

  private static final SloClass[] ALL = values();

  private final int priority;
  private final String label = name().toLowerCase(Locale.ROOT);

  SloClass(int priority) {
    this.priority = priority;
  }

  /** The class of that name; standard where there is no such class, as for requests without one. */
  public static SloClass of(String name) {
    for (var known : ALL) {
      if (known.label().equals(name)) return known;
    }
    return STANDARD;
  }

  public String label() {
    return label;
  }

  /** Higher is more important; below zero may be refused to protect the others. */
  public int priority() {
    return priority;
  }

  /** Its place in a queue that serves the lowest number first. */
  public int queuePriority() {
    return CRITICAL.priority - priority;
  }

  public boolean isSheddable() {
    return priority < 0;
  }
}
