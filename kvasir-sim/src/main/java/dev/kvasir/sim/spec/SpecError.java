package dev.kvasir.sim.spec;

/** A scenario that cannot be meant as it is written: where, what is wrong, and what to do. */
public final class SpecError extends RuntimeException {
  private static final long serialVersionUID = 1;

  /**
   * An error in a scenario.
   *
   * @param where the file, and the way to the key from its top
   */
  public SpecError(String where, String problem, String remedy) {
    super(where + ": " + problem + "; " + remedy);
  }
}
