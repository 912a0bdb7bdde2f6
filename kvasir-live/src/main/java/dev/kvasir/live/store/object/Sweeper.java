package dev.kvasir.live.store.object;

import static java.lang.System.Logger.Level.WARNING;

import java.io.IOException;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/**
 * Keeps a bucket within its bound: packs that are too old go, then the oldest of those that are too
 * many, then the claims of what is gone.
 *
 * <p>Every server does it, and it does not matter when two do at once. A claim is older than its
 * pack, but never by more than the TTL; so what is older than the oldest pack by more belongs to
 * none.
 */
final class Sweeper implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Sweeper.class.getName());

  /** More than the largest bound has packs; so much memory is not asked for at once. */
  private static final int OBJECTS_MAX = 1 << 20;

  /** What a sweep left, and what it took away. */
  record Swept(int packs, long bytes, int packsRemoved, int claimsRemoved) {}

  private final Bucket bucket;
  private final String claims;
  private final String packs;
  private final ObjectSettings settings;
  private final Thread thread =
      Thread.ofVirtual().name("kvasir-object-sweeper").unstarted(this::run);

  Sweeper(Bucket bucket, String claims, String packs, ObjectSettings settings) {
    this.bucket = bucket;
    this.claims = claims;
    this.packs = packs;
    this.settings = settings;
  }

  void start() {
    thread.start();
  }

  private void run() {
    while (true) {
      try {
        Thread.sleep(settings.bound().sweepInterval());
        sweep();
      } catch (InterruptedException e) {
        return;
      } catch (IOException e) {
        LOG.log(WARNING, "the bucket could not be swept, and will be again: " + e.getMessage());
      }
    }
  }

  Swept sweep() throws IOException {
    var listing = bucket.list(packs, OBJECTS_MAX);
    var byAge = listing.objects();
    byAge.sort(Comparator.comparing(Bucket.Listed::written));
    var oldest = listing.now().minus(settings.bound().age());
    long bytes = byAge.stream().mapToLong(Bucket.Listed::bytes).sum();
    int removed = 0;
    for (var pack : byAge) {
      if (pack.written().isAfter(oldest) && bytes <= settings.bound().bytes()) break;
      bucket.remove(packs + pack.name());
      bytes -= pack.bytes();
      removed++;
    }
    int claimsRemoved = removeClaims(byAge.subList(removed, byAge.size()), listing.now());
    return new Swept(byAge.size() - removed, bytes, removed, claimsRemoved);
  }

  private int removeClaims(List<Bucket.Listed> left, Instant now) throws IOException {
    var first = left.isEmpty() ? now : left.getFirst().written();
    var horizon = first.minus(settings.claimTtl()).minus(settings.limits().timeout());
    int removed = 0;
    for (var claim : bucket.list(claims, OBJECTS_MAX).objects()) {
      if (claim.written().isBefore(horizon)) {
        bucket.remove(claims + claim.name());
        removed++;
      }
    }
    return removed;
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
