package dev.kvasir.offload.store;

import java.util.List;
import java.util.function.Consumer;

/**
 * The bytes of one tier: copies blocks between its slots and the slots of the tier above.
 *
 * <p>A port: the live stores move bytes, the simulated one lets time pass. Work happens elsewhere;
 * {@code done} is called later, exactly once, on the loop of the caller, with one outcome for each
 * copy in the order of the copies. The slots on both sides belong to the transfer until then. A
 * store never throws for what can go wrong outside the program; it answers.
 */
public interface TierStore {
  /** Copies blocks from the tier above into this one. */
  void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done);

  /** Copies blocks from this tier into the one above. */
  void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done);
}
