package dev.kvasir.live.engine;

import dev.kvasir.Nullable;
import dev.kvasir.engine.EngineSettings;
import java.nio.file.Path;

/**
 * How many engines there are, and how much memory they have.
 *
 * @param engines how many, each with a device tier of its own
 * @param deviceBlocks how many blocks each of them computes in
 * @param hostBlocks how many blocks of host memory all of them share; 0 for none
 * @param diskBlocks how many blocks on disk all of them share; 0 for none
 * @param diskFolder where these lie, if there are any
 */
public record EngineGroupSettings(
    int engines,
    int deviceBlocks,
    int hostBlocks,
    int diskBlocks,
    @Nullable Path diskFolder,
    EngineSettings engine) {

  private static final int ENGINES_MAX = 64;

  public EngineGroupSettings {
    if (engines < 1 || engines > ENGINES_MAX) {
      throw new IllegalArgumentException(engines + " engines, expected 1 to " + ENGINES_MAX);
    }
    if (deviceBlocks < 1) {
      throw new IllegalArgumentException(deviceBlocks + " blocks of engine memory");
    }
    if (hostBlocks < 0 || diskBlocks < 0) {
      throw new IllegalArgumentException(
          hostBlocks + " blocks in host memory and " + diskBlocks + " on disk; 0 stands for none");
    }
    if (diskBlocks > 0 && hostBlocks == 0) {
      throw new IllegalArgumentException(
          "a disk tier stands below host memory: give that some blocks too");
    }
    if (diskBlocks > 0 && diskFolder == null) {
      throw new IllegalArgumentException("a disk tier needs a folder");
    }
  }
}
