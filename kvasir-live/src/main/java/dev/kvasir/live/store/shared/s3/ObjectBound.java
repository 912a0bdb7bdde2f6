package dev.kvasir.live.store.shared.s3;

import java.time.Duration;

/**
 * How much a bucket may hold of ours: what is older goes, and of what is more the oldest.
 *
 * @param age how long an object stays at most
 * @param bytes how many bytes all objects have at most, between two sweeps
 * @param sweepInterval how often each server looks
 */
public record ObjectBound(Duration age, long bytes, Duration sweepInterval) {
  public ObjectBound {
    if (!age.isPositive()) throw new IllegalArgumentException("objects stay for " + age);
    if (bytes < 1) throw new IllegalArgumentException("a bucket of " + bytes + " bytes");
    if (!sweepInterval.isPositive()) {
      throw new IllegalArgumentException("a sweep every " + sweepInterval);
    }
  }
}
