package dev.kvasir.sim.page;

import java.util.List;

/**
 * The command and settings of a run, so that a page shows how to repeat it.
 *
 * @param command the command line, or what stands for it
 * @param settings the settings that differ from the defaults
 */
public record RunDescription(String command, List<Setting> settings) {
  public RunDescription {
    settings = List.copyOf(settings);
  }

  /** An option without its dashes, and its value. */
  public record Setting(String name, String value) {}
}
