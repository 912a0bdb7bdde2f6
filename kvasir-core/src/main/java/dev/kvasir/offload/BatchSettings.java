package dev.kvasir.offload;

import java.time.Duration;

/**
 * How blocks are grouped for transfer.
 *
 * @param blocksMin a batch this large need not wait for more
 * @param blocksMax no batch is larger
 * @param flushInterval a smaller batch goes after this time
 */
public record BatchSettings(int blocksMin, int blocksMax, Duration flushInterval) {
  public static final BatchSettings DEFAULT = new BatchSettings(8, 64, Duration.ofMillis(10));

  public BatchSettings {
    if (blocksMin < 1 || blocksMax < blocksMin) {
      throw new IllegalArgumentException(
          "batches of " + blocksMin + " to " + blocksMax + " blocks, expected 1 or more, rising");
    }
    Deadlines.requirePositive("flushInterval", flushInterval);
  }

  /** The same for a tier of so few blocks: a batch that never fits would wait for nothing. */
  BatchSettings within(int blocks) {
    return new BatchSettings(
        Math.min(blocksMin, blocks), Math.min(blocksMax, blocks), flushInterval);
  }
}
