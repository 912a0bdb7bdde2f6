package dev.kvasir.offload.pipeline;

import dev.kvasir.kv.name.BlockHash;
import java.util.HashMap;
import java.util.Map;

/** The content of a pipeline: waiting blocks, moving blocks, and the hashes that are pending. */
final class PipelineTraffic {
  /** Hashes that passed the policy, until they are registered below or given up. */
  private final Map<BlockHash, Integer> pending = new HashMap<>();

  private int waiting;
  private int moving;

  /** Blocks before their upgrade. */
  int waiting() {
    return waiting;
  }

  /** Blocks after their upgrade. */
  int moving() {
    return moving;
  }

  boolean isPending(BlockHash hash) {
    return pending.containsKey(hash);
  }

  int pending() {
    return pending.size();
  }

  void enter() {
    waiting++;
  }

  void pass(BlockHash hash) {
    pending.merge(hash, 1, Integer::sum);
  }

  void upgrade() {
    waiting--;
    moving++;
  }

  void leaveWaiting() {
    waiting--;
  }

  void leaveMoving() {
    moving--;
  }

  void unpass(BlockHash hash) {
    var left = pending.computeIfPresent(hash, (key, count) -> count - 1);
    if (left == null) throw new IllegalStateException(hash + " is not pending");
    if (left == 0) pending.remove(hash);
  }
}
