package dev.kvasir.events;

import dev.kvasir.net.LiveLoop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for what other threads do; it fails only if that never happens. */
final class Await {
  private static final Duration LONG_ENOUGH = Duration.ofSeconds(60);

  private Await() {}

  static void until(String what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + LONG_ENOUGH.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) throw new AssertionError("waited in vain: " + what);
      Thread.sleep(2);
    }
  }

  /** Returns the value of the supplier, called on the loop. */
  static <T> T on(LiveLoop loop, Supplier<T> supplier) {
    return CompletableFuture.supplyAsync(supplier, loop::execute)
        .orTimeout(LONG_ENOUGH.toSeconds(), TimeUnit.SECONDS)
        .join();
  }
}
