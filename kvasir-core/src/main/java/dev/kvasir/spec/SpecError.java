package dev.kvasir.spec;

/** An error in a scenario: the place, the problem and the remedy. */
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
