package dev.kvasir.sim.workload;

/** Mixes the bits of 64-bit numbers, without collisions. */
final class Mix {
  /** The odd number nearest to 2^64 divided by the golden ratio. */
  static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private Mix() {}

  /** A bijection whose every output bit depends on every input bit. */
  static long spread(long value) {
    long mixed = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }

  /** A number for a name; different names have different ones but for one chance in 2^64. */
  static long of(String name) {
    long hash = name.length();
    for (int index = 0; index < name.length(); index++) {
      hash = spread(hash + GOLDEN + name.charAt(index));
    }
    return hash;
  }
}
