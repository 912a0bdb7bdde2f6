package dev.kvasir.tierd.resp;

import java.time.Duration;

/**
 * The progress of a client of the Redis protocol; written by its connection's thread, and read by
 * the one that ends those that hold up others.
 *
 * <pre>
 *   login --password--> idle &lt;--> moving (the client sends or reads) &lt;--> served (we do)
 * </pre>
 */
public final class RespProgress {
  /**
   * The progress expected of a client that has begun.
   *
   * @param still how long nothing may move
   * @param bytesPerSecond what is to move at least, after that time
   */
  public record Pace(Duration still, long bytesPerSecond) {
    public static final Pace USUAL = new Pace(Duration.ofSeconds(10), 16 << 10);

    /** While another waits for the memory that the transfer holds. */
    public static final Pace CROWDED = new Pace(Duration.ofSeconds(1), 256 << 10);
  }

  public static final Duration LOGIN_MAX = Duration.ofSeconds(10);

  private enum Step {
    LOGIN,
    IDLE,
    MOVING,
    SERVED
  }

  private Step step;
  private long sinceNanos;
  private long movedNanos;
  private long bytes;

  /** Of a client that is to say a password. */
  public static RespProgress ofStranger(long nowNanos) {
    return new RespProgress(Step.LOGIN, nowNanos);
  }

  public static RespProgress ofKnown(long nowNanos) {
    return new RespProgress(Step.IDLE, nowNanos);
  }

  private RespProgress(Step step, long nowNanos) {
    this.step = step;
    this.sinceNanos = nowNanos;
    this.movedNanos = nowNanos;
  }

  /** The client has said the password. */
  public synchronized void admitted(long nowNanos) {
    if (step == Step.LOGIN) enter(Step.MOVING, nowNanos);
  }

  /** The next command may take as long as it likes to begin. */
  public synchronized void idle(long nowNanos) {
    if (step != Step.LOGIN) enter(Step.IDLE, nowNanos);
  }

  /** From now on the client is to send or to read. */
  public synchronized void moving(long nowNanos) {
    if (step != Step.LOGIN) enter(Step.MOVING, nowNanos);
  }

  /** From now on the client waits for us. */
  public synchronized void served(long nowNanos) {
    if (step != Step.LOGIN) enter(Step.SERVED, nowNanos);
  }

  private void enter(Step next, long nowNanos) {
    step = next;
    sinceNanos = nowNanos;
    movedNanos = nowNanos;
    bytes = 0;
  }

  public synchronized void moved(int some, long nowNanos) {
    if (some <= 0) return;
    bytes += some;
    movedNanos = nowNanos;
  }

  /** Returns whether the client has had its time. */
  public synchronized boolean isOver(Pace pace, long nowNanos) {
    return switch (step) {
      case LOGIN -> nowNanos - sinceNanos > LOGIN_MAX.toNanos();
      case IDLE, SERVED -> false;
      case MOVING -> isSlow(pace, nowNanos);
    };
  }

  private boolean isSlow(Pace pace, long nowNanos) {
    long still = pace.still().toNanos();
    if (nowNanos - movedNanos > still) return true;
    double seconds = (nowNanos - sinceNanos - still) / 1e9;
    return seconds > 0 && bytes < seconds * pace.bytesPerSecond();
  }
}
