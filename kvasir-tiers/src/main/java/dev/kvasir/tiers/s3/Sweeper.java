package dev.kvasir.tiers.s3;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/**
 * Keeps a bucket within its bound: packs that are too old go, then the oldest of those that are too
 * many, then the claims of what is gone.
 *
 * <p>What other namespaces under the same prefix have beyond that age goes too: nobody may be left
 * who sweeps them, since another version, model or secret makes another namespace.
 *
 * <p>Every server does it, and it does not matter when two do at once. A claim is older than its
 * pack, but never by more than the TTL; so what is older than the oldest pack by more belongs to
 * none.
 */
final class Sweeper implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Sweeper.class.getName());

  /** The oldest packs, as many as one sweep takes away; the next sweep has the next. */
  private static final int PACKS_MAX = 1 << 16;

  private static final String CLAIMS = "/k/";
  private static final String PACKS = "/p/";
  private static final Pattern NAMESPACE = Pattern.compile("[0-9a-f]{16}");
  private static final Comparator<Bucket.Listed> AGE =
      Comparator.comparing(Bucket.Listed::written).thenComparing(Bucket.Listed::name);

  /**
   * The outcome of a sweep: the objects left and those taken away.
   *
   * @param othersRemoved objects of other namespaces
   * @param unreadable objects that the server listed without name, size or date, and which stay
   */
  record Swept(
      int packs,
      long bytes,
      int packsRemoved,
      int claimsRemoved,
      int othersRemoved,
      long unreadable) {}

  private final Bucket bucket;
  private final String root;
  private final String namespace;
  private final String claims;
  private final String packs;
  private final ObjectSettings settings;
  private final Thread thread =
      Thread.ofVirtual().name("kvasir-object-sweeper").unstarted(this::run);

  Sweeper(Bucket bucket, String root, String namespace, ObjectSettings settings) {
    this.bucket = bucket;
    this.root = root;
    this.namespace = namespace;
    this.claims = root + namespace + CLAIMS;
    this.packs = root + namespace + PACKS;
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
      } catch (IOException | RuntimeException | Error e) {
        LOG.log(WARNING, "the bucket could not be swept, and will be again: " + e);
      }
    }
  }

  Swept sweep() throws IOException {
    long unreadable = bucket.unreadable();
    var oldest = new PriorityQueue<Bucket.Listed>(AGE.reversed());
    var seen = new Seen();
    var now =
        bucket.each(
            packs,
            page -> {
              for (var pack : page) {
                seen.packs++;
                seen.bytes += pack.bytes();
                oldest.add(pack);
                if (oldest.size() > PACKS_MAX) seen.next(oldest.remove());
              }
            });
    var byAge = new ArrayList<>(oldest);
    byAge.sort(AGE);
    var tooOld = now.minus(settings.bound().age());
    int removed = 0;
    for (var pack : byAge) {
      if (pack.written().isAfter(tooOld) && seen.bytes <= settings.bound().bytes()) break;
      bucket.remove(packs + pack.name());
      seen.bytes -= pack.bytes();
      removed++;
    }
    var left = removed == byAge.size() ? seen.first : byAge.get(removed).written();
    int claimsRemoved = removeClaims(left == null ? now : left);
    int othersRemoved = removeOthers(tooOld);
    unreadable = bucket.unreadable() - unreadable;
    if (unreadable > 0) LOG.log(WARNING, unreadable + " objects without size or date are left");
    return new Swept(
        seen.packs - removed, seen.bytes, removed, claimsRemoved, othersRemoved, unreadable);
  }

  /** Takes away the claims of what is gone, page by page: there may be millions. */
  private int removeClaims(Instant firstPack) throws IOException {
    var horizon = firstPack.minus(settings.claimTtl()).minus(settings.limits().timeout());
    var removed = new AtomicInteger();
    var _ =
        bucket.each(
            claims,
            page -> {
              for (var claim : page) {
                if (!claim.written().isBefore(horizon)) continue;
                bucket.remove(claims + claim.name());
                removed.incrementAndGet();
              }
            });
    return removed.get();
  }

  /** Takes away what is too old in other namespaces; claims once no pack is left. */
  private int removeOthers(Instant tooOld) throws IOException {
    int removed = 0;
    for (var other : bucket.folders(root)) {
      if (other.equals(namespace) || !NAMESPACE.matcher(other).matches()) continue;
      var old = removeOld(root + other + PACKS, tooOld);
      removed += old.removed;
      if (old.left == 0) removed += removeOld(root + other + CLAIMS, tooOld).removed;
    }
    return removed;
  }

  /** The number of objects removed, and of those that were younger. */
  private record Old(int removed, int left) {}

  private Old removeOld(String prefix, Instant tooOld) throws IOException {
    var removed = new AtomicInteger();
    var left = new AtomicInteger();
    var _ =
        bucket.each(
            prefix,
            page -> {
              var names = new ArrayList<String>();
              for (var object : page) {
                if (object.written().isBefore(tooOld)) names.add(prefix + object.name());
              }
              bucket.removeAll(names);
              removed.addAndGet(names.size());
              left.addAndGet(page.size() - names.size());
            });
    return new Old(removed.get(), left.get());
  }

  /** Totals of a list of packs, and the date of the first one that is not among the oldest. */
  private static final class Seen {
    private int packs;
    private long bytes;

    /** When the first pack was written that is not among the oldest. */
    private @Nullable Instant first;

    void next(Bucket.Listed pack) {
      if (first == null || pack.written().isBefore(first)) first = pack.written();
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
