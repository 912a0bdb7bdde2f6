package dev.kvasir.sim.calibrate;

/** Captures that no profile can be made of; the message says why, and what to do. */
public final class CalibrationError extends RuntimeException {
  private static final long serialVersionUID = 1;

  public CalibrationError(String message) {
    super(message);
  }
}
