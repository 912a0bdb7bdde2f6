package dev.kvasir.sim.calibrate;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.PlanningSettings;

/**
 * Settings of an engine, as far as its batches depend on them.
 *
 * @param sequencesMax the most requests in a batch
 * @param stepTokensMax the most tokens in a step
 * @param blocks how many blocks of KV its memory holds
 * @param blockTokens the tokens of a block
 */
public record Limits(int sequencesMax, int stepTokensMax, int blocks, int blockTokens) {
  /** Limits that vLLM sets on GPUs with much memory, with more blocks than anybody fills. */
  public static final Limits USUAL = new Limits(256, 8192, 1 << 20, 16);

  public Limits {
    if (sequencesMax < 1 || stepTokensMax < 1 || blocks < 1 || blockTokens < 1) {
      throw new IllegalArgumentException(
          sequencesMax
              + " requests and "
              + stepTokensMax
              + " tokens in a step, "
              + blocks
              + " blocks of "
              + blockTokens
              + " tokens; give numbers above 0");
    }
  }

  /** Returns whether somebody said or showed how much memory there is. */
  public boolean isMemoryKnown() {
    return blocks != USUAL.blocks;
  }

  public Limits withBlocks(int number) {
    return new Limits(sequencesMax, stepTokensMax, number, blockTokens);
  }

  /** The settings of an engine that admits as vLLM does. */
  EngineSettings engine() {
    var usual = EngineSettings.DEFAULT;
    return new EngineSettings(
        sequencesMax,
        stepTokensMax,
        0,
        0,
        usual.order(),
        usual.victim(),
        new PlanningSettings(PlanningSettings.Mode.SEQUENTIAL, 0),
        EngineSettings.Room.WHOLE_PROMPT);
  }
}
