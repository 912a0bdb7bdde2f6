package dev.kvasir.offload.pipeline;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.name.BlockHash;

/** One block in a pipeline. It is settled once, and then releases its hold. */
final class OffloadItem {
  private final SourceBlock source;
  private final BlockHash hash;
  private final TransferHandle handle;
  private final PipelineTraffic traffic;
  private Block.@Nullable Registered held;
  private boolean passed;
  private boolean settled;

  OffloadItem(SourceBlock source, TransferHandle handle, PipelineTraffic traffic) {
    this.source = source;
    this.hash = source.hash();
    this.handle = handle;
    this.traffic = traffic;
    traffic.enter();
  }

  BlockHash hash() {
    return hash;
  }

  TransferHandle handle() {
    return handle;
  }

  /** The policy wants it moved: from now on it counts as pending. */
  void pass() {
    passed = true;
    traffic.pass(hash);
  }

  /** Takes the strong hold to move it with; false, and settled, when the block is gone. */
  boolean upgrade() {
    var upgraded = source.upgrade();
    if (upgraded.isEmpty()) {
      end(new BlockOutcome.Evicted());
      return false;
    }
    held = upgraded.get();
    traffic.upgrade();
    handle.transferring();
    return true;
  }

  /** The hold, which there is between upgrade and end. */
  Block.Registered held() {
    if (held == null) throw new IllegalStateException(hash + " is not upgraded");
    return held;
  }

  /** Settles the block and lets it go. */
  void end(BlockOutcome outcome) {
    try {
      letGo();
    } finally {
      settle(outcome);
    }
  }

  /** Settles the block as failed while its bytes may still be read: the hold stays. */
  void abandon(String reason) {
    settle(new BlockOutcome.Failed(reason));
  }

  /** Releases the hold, or stops waiting for it. Counts first, since the release may throw. */
  void letGo() {
    var hold = held;
    held = null;
    if (hold != null) {
      traffic.leaveMoving();
      hold.release();
    } else {
      traffic.leaveWaiting();
      source.drop();
    }
  }

  private void settle(BlockOutcome outcome) {
    if (settled) throw new IllegalStateException(hash + " settled twice, now " + outcome);
    settled = true;
    if (passed) traffic.unpass(hash);
    handle.settle(hash, outcome);
  }
}
