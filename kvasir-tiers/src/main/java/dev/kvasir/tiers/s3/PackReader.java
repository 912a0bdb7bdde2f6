package dev.kvasir.tiers.s3;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.tiers.s3.BoundedRequests.Result;
import dev.kvasir.tiers.s3.Places.Place;
import dev.kvasir.tiers.shared.BlockTransport.Fetched;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads blocks from packs, neighbours in one request. */
final class PackReader {
  /** A run of places in one pack, both ends included. */
  private record Run(String pack, int packBlocks, int first, int last) {}

  /** Up to that many blocks that nobody asked for are cheaper than another request. */
  private static final int GAP_BLOCKS_MAX = 1;

  private final Bucket bucket;
  private final String prefix;
  private final BoundedRequests requests;
  private final int sealedBytes;

  PackReader(Bucket bucket, String prefix, BoundedRequests requests, int sealedBytes) {
    this.bucket = bucket;
    this.prefix = prefix;
    this.requests = requests;
    this.sealedBytes = sealedBytes;
  }

  /** Reads the list of the claim's pack; returns an empty one if the pack is not there. */
  Map<BlockHash, Integer> list(Claim claim) throws IOException {
    var list = bucket.read(prefix + claim.pack(), 0, Pack.listBytes(claim.packBlocks()));
    return list == null ? new LinkedHashMap<>() : Pack.places(list);
  }

  Map<BlockHash, Fetched> read(Map<BlockHash, Place> found) throws IOException {
    var runs = runs(found.values());
    var results = requests.each(runs, this::read);
    var fetched = new LinkedHashMap<BlockHash, Fetched>();
    found.forEach(
        (hash, place) -> {
          for (var run : runs) {
            if (holds(run, place)) fetched.put(hash, block(run, place, results.get(run)));
          }
        });
    return fetched;
  }

  private static boolean holds(Run run, Place place) {
    return run.pack().equals(place.pack())
        && run.first() <= place.index()
        && place.index() <= run.last();
  }

  private Fetched block(Run run, Place place, @Nullable Result<byte[]> result) {
    return switch (result) {
      case null -> new Fetched.Lost("it was not asked for");
      case Result.Failed(var reason) -> new Fetched.Lost(reason);
      case Result.Done(var bytes) -> {
        if (bytes.length == 0) yield new Fetched.Absent();
        // An answer that is too short gives a block that is too short, and that is found out.
        int from = Math.min(bytes.length, (place.index() - run.first()) * sealedBytes);
        int length = Math.min(sealedBytes, bytes.length - from);
        yield new Fetched.Found(ByteBuffer.wrap(bytes, from, length));
      }
    };
  }

  /** The bytes of the run; none if the pack is not there. */
  private byte[] read(Run run) throws IOException {
    long from = Pack.listBytes(run.packBlocks()) + (long) run.first() * sealedBytes;
    int length = (run.last() - run.first() + 1) * sealedBytes;
    var bytes = bucket.read(prefix + run.pack(), from, length);
    return bytes == null ? new byte[0] : bytes;
  }

  private static List<Run> runs(Iterable<Place> wanted) {
    var sorted = new ArrayList<Place>();
    wanted.forEach(sorted::add);
    sorted.sort(Comparator.comparing(Place::pack).thenComparingInt(Place::index));
    var runs = new ArrayList<Run>();
    for (var place : sorted) {
      var last = runs.isEmpty() ? null : runs.getLast();
      boolean near =
          last != null
              && last.pack().equals(place.pack())
              && place.index() - last.last() <= 1 + GAP_BLOCKS_MAX;
      if (last != null && near) {
        runs.removeLast();
        runs.add(new Run(last.pack(), last.packBlocks(), last.first(), place.index()));
      } else {
        runs.add(new Run(place.pack(), place.packBlocks(), place.index(), place.index()));
      }
    }
    return runs;
  }
}
