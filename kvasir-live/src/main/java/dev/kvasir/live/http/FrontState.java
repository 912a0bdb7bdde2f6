package dev.kvasir.live.http;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** What all loops of a server share. */
final class FrontState {
  private final HttpSettings settings;
  private final Endpoints endpoints;
  private final ByteBudget bodies;
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger inFlight = new AtomicInteger();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition quiet = lock.newCondition();
  private volatile ApiKeys keys;
  private volatile boolean draining;
  private volatile int port;

  FrontState(HttpSettings settings, Endpoints endpoints) {
    this.settings = settings;
    this.endpoints = endpoints;
    this.bodies = new ByteBudget(settings.limits().bodiesBytesMax());
    this.keys = settings.keys();
  }

  HttpSettings settings() {
    return settings;
  }

  HttpLimits limits() {
    return settings.limits();
  }

  Endpoints endpoints() {
    return endpoints;
  }

  ByteBudget bodies() {
    return bodies;
  }

  ApiKeys keys() {
    return keys;
  }

  void use(ApiKeys others) {
    keys = others;
  }

  int port() {
    return port;
  }

  void listensOn(int actual) {
    port = actual;
  }

  int connections() {
    return connections.get();
  }

  /** Whether there is room for one more; it is counted either way, until it leaves. */
  boolean comes() {
    return connections.incrementAndGet() <= limits().connectionsMax();
  }

  void leaves() {
    connections.decrementAndGet();
  }

  int inFlight() {
    return inFlight.get();
  }

  void begins() {
    inFlight.incrementAndGet();
  }

  void ends() {
    if (inFlight.decrementAndGet() > 0 || !draining) return;
    lock.lock();
    try {
      quiet.signalAll();
    } finally {
      lock.unlock();
    }
  }

  boolean isDraining() {
    return draining;
  }

  void drain(Duration patience) {
    lock.lock();
    try {
      draining = true;
      long leftNanos = patience.toNanos();
      while (inFlight.get() > 0 && leftNanos > 0) {
        // Looks again now and then: the last one may have ended before draining began.
        long nanos = Math.min(leftNanos, TimeUnit.MILLISECONDS.toNanos(50));
        leftNanos -= nanos - Math.max(0, quiet.awaitNanos(nanos));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }
}
