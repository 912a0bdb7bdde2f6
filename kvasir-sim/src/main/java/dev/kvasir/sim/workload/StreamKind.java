package dev.kvasir.sim.workload;

/** Keeps apart the streams of different origin that happen to have the same number. */
enum StreamKind {
  OWN(1),
  GROUP(2),
  SESSION(3),
  ID(4);

  private final long key;

  StreamKind(long key) {
    this.key = Mix.spread(key);
  }

  /** Different numbers of one kind always give different streams. */
  long stream(long number) {
    return Mix.spread(number + key);
  }
}
