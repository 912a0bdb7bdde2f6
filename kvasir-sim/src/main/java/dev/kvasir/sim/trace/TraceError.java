package dev.kvasir.sim.trace;

/** An error in a trace: the place, the problem and the remedy. */
public final class TraceError extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final long line;
  private final String problem;
  private final String remedy;

  /**
   * An error in a trace.
   *
   * @param line counts from 1; 0 for the file as a whole
   */
  public TraceError(String file, long line, String problem, String remedy) {
    super(file + (line == 0 ? "" : ":" + line) + ": " + problem + "; " + remedy);
    this.line = line;
    this.problem = problem;
    this.remedy = remedy;
  }

  public long line() {
    return line;
  }

  public String problem() {
    return problem;
  }

  public String remedy() {
    return remedy;
  }
}
