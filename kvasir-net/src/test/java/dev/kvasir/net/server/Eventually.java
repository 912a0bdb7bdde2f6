package dev.kvasir.net.server;

import static org.assertj.core.api.Assertions.fail;

import java.util.function.BooleanSupplier;

/** Waits for what other threads bring about. */
public final class Eventually {
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private Eventually() {}

  /** Asks again and again until it is no longer so. */
  public static void ends(BooleanSupplier condition) throws InterruptedException {
    long start = System.nanoTime();
    while (condition.getAsBoolean()) {
      if (System.nanoTime() - start > PATIENCE_NANOS) fail("it did not end");
      Thread.sleep(1);
    }
  }
}
