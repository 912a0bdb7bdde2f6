package dev.kvasir.offload.store;

import java.util.List;
import java.util.function.Consumer;

/**
 * The bytes of one tier: copies blocks between its slots and the slots of the tier above.
 *
 * <p>The live stores move bytes; the simulated one only takes time. {@code done} is called later,
 * exactly once, on the loop of the caller, with one outcome for each copy in the order of the
 * copies. Until then the slots on both sides belong to the transfer. A store reports failures of
 * I/O as outcomes; it does not throw.
 */
public interface TierStore {
  /** Copies blocks from the tier above into this one. */
  void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done);

  /** Copies blocks from this tier into the one above. */
  void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done);
}
