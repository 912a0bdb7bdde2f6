package dev.kvasir.net;

/** Ends the handling of a request with an answer that says why. */
public final class Refused extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient ApiError error;

  public Refused(ApiError error) {
    super(error.message(), null, false, false);
    this.error = error;
  }

  public ApiError error() {
    return error;
  }
}
