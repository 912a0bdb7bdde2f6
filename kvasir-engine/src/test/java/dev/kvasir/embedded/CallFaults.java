package dev.kvasir.embedded;

import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.TierStore;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** Counts the calls of a device and of the stores below it, and lets one of them fail. */
final class CallFaults {
  /** The ways in which a store's call fails. */
  enum Manner {
    THROWS,
    ANSWERS
  }

  private final AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);
  private final List<String> mistakes = new CopyOnWriteArrayList<>();
  private volatile Manner manner = Manner.THROWS;

  /** The call after so many others fails, and those behind it do not. */
  void failAfter(int calls, Manner how) {
    manner = how;
    left.set(calls);
  }

  /** No call fails any more; tells whether the one that was to fail did. */
  boolean disarm() {
    return left.getAndSet(Integer.MAX_VALUE) < 0;
  }

  /** Returns when a call has failed, or never will. */
  void awaitFailure() {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (left.get() >= 0 && System.nanoTime() < end) LockSupport.parkNanos(1_000_000);
  }

  private boolean isToFail() {
    return left.getAndDecrement() == 0;
  }

  /** A request that no device may be asked for. */
  void report(String mistake) {
    mistakes.add(mistake);
  }

  List<String> mistakes() {
    return mistakes;
  }

  /** One call. */
  void call() {
    if (isToFail()) throw new IllegalStateException("it is to fail");
  }

  /** The store, each of whose calls is counted. */
  TierStore of(TierStore store) {
    return new Counted(this, store);
  }

  private record Counted(CallFaults faults, TierStore store) implements TierStore {
    @Override
    public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      if (!fails(copies, done)) store.store(copies, done);
    }

    @Override
    public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      if (!fails(copies, done)) store.load(copies, done);
    }

    private boolean fails(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      if (!faults.isToFail()) return false;
      if (faults.manner == Manner.THROWS) throw new IllegalStateException("it is to fail");
      done.accept(Collections.nCopies(copies.size(), new CopyOutcome.Failed("it is to fail")));
      return true;
    }
  }
}
