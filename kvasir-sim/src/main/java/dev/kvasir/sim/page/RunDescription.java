package dev.kvasir.sim.page;

import java.util.List;

/**
 * What was asked of the simulator, so that a page tells how to get it again.
 *
 * @param command the command line, or what stands for it
 * @param settings whatever differs from what is usual
 */
public record RunDescription(String command, List<Setting> settings) {
  public RunDescription {
    settings = List.copyOf(settings);
  }

  /** An option without its dashes, and its value. */
  public record Setting(String name, String value) {}
}
