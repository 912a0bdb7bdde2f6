package dev.kvasir.offload;

import java.util.Comparator;
import java.util.Optional;

/** Something that waits in a {@link CancellableQueue}. */
interface Sweepable {
  /** Higher priorities first, then first come first served. */
  Comparator<Sweepable> ORDER =
      Comparator.comparingInt(Sweepable::priority)
          .reversed()
          .thenComparingLong(Sweepable::sequence);

  int priority();

  long sequence();

  /** How many blocks wait in it. */
  int size();

  /** Ends what the sweep wants ended. */
  void sweep(Sweep sweep);

  /** Says which containers are not to go on, and how they end. */
  @FunctionalInterface
  interface Sweep {
    Optional<BlockOutcome> end(OffloadContainer container);
  }
}
