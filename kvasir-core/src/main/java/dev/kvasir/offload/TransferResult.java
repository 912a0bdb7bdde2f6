package dev.kvasir.offload;

import dev.kvasir.kv.BlockHash;
import java.util.List;

/**
 * How a transfer ended, block by block; the blocks are all that were submitted.
 *
 * @param status complete, cancelled if any block was, else failed if any block did
 */
public record TransferResult(long id, TransferStatus status, List<Ended> blocks) {
  /** One block and its end. */
  public record Ended(BlockHash hash, BlockOutcome outcome) {}

  public TransferResult {
    if (!status.isFinal()) throw new IllegalArgumentException("transfer " + id + " is " + status);
    blocks = List.copyOf(blocks);
  }

  public List<BlockHash> completed() {
    return ended(BlockOutcome.Completed.class);
  }

  public List<BlockHash> failed() {
    return ended(BlockOutcome.Failed.class);
  }

  public List<BlockHash> evicted() {
    return ended(BlockOutcome.Evicted.class);
  }

  public List<BlockHash> filtered() {
    return ended(BlockOutcome.Filtered.class);
  }

  public List<BlockHash> cancelled() {
    return ended(BlockOutcome.Cancelled.class);
  }

  private List<BlockHash> ended(Class<? extends BlockOutcome> kind) {
    return blocks.stream()
        .filter(block -> kind.isInstance(block.outcome()))
        .map(Ended::hash)
        .toList();
  }
}
