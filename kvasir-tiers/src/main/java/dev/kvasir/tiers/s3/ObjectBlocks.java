package dev.kvasir.tiers.s3;

import static dev.kvasir.tiers.s3.Claims.Intent.REPLACE;
import static dev.kvasir.tiers.s3.Claims.Intent.STORE;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.s3.BoundedRequests.Result;
import dev.kvasir.tiers.s3.Claims.Outcome;
import dev.kvasir.tiers.s3.Places.Place;
import dev.kvasir.tiers.shared.BlockName;
import dev.kvasir.tiers.shared.BlockSeals;
import dev.kvasir.tiers.shared.BlockTransport;
import dev.kvasir.tiers.shared.Presence;
import dev.kvasir.tiers.shared.SharedStore;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.IntPredicate;
import software.amazon.awssdk.core.sync.RequestBody;

/**
 * Blocks in a bucket: packs of them, and a small object for each that says which pack.
 *
 * <pre>
 *   prefix/namespace/k/name of a block     its claim
 *   prefix/namespace/p/owner-number        a pack
 * </pre>
 *
 * <p>docs/shared-tiers.md has the protocol, and why no block is sent twice.
 */
public final class ObjectBlocks implements BlockTransport {
  private static final int PLACES_MAX = 1 << 18;

  private final Bucket bucket;
  private final String claimPrefix;
  private final String packPrefix;
  private final String generationName;
  private final String owner = HexFormat.of().toHexDigits(new SecureRandom().nextLong());
  private final AtomicLong packs = new AtomicLong();
  private final BoundedRequests requests;
  private final Claims claims;
  private final Places places = new Places(PLACES_MAX);
  private final PackReader reader;
  private final Sweeper sweeper;

  ObjectBlocks(ObjectSettings settings, BlockSeals seals) {
    var root = settings.place().prefix() + "/";
    var prefix = root + seals.namespace();
    this.bucket = new Bucket(settings);
    this.claimPrefix = prefix + "/k/";
    this.packPrefix = prefix + "/p/";
    this.generationName = prefix + "/generation";
    this.requests = new BoundedRequests(settings.requestsMax());
    this.reader = new PackReader(bucket, packPrefix, requests, seals.sealedBytes());
    this.claims = new Claims(bucket, claimPrefix, reader, owner, settings.claimTtl());
    this.sweeper = new Sweeper(bucket, root, seals.namespace(), settings);
  }

  /** An object tier below those slots; the bucket is there already. */
  public static SharedStore open(
      EventLoop loop, HostMemory above, ObjectSettings settings, BlockSeals seals) {
    var limits = settings.limits().withBatch(settings.packBlocks(seals.blockBytes()));
    var transport = new ObjectBlocks(settings, seals);
    transport.sweeper.start();
    return new SharedStore(Thread.ofVirtual(), "object", loop, above, limits, seals, transport);
  }

  Sweeper sweeper() {
    return sweeper;
  }

  @Override
  public Map<BlockHash, Sent> send(List<Parcel> parcels) throws IOException {
    var pack = owner + "-" + Long.toHexString(packs.incrementAndGet());
    var batch = claims.begin(new Claim(owner, pack, parcels.size()));
    boolean written = false;
    try {
      var sent = new LinkedHashMap<BlockHash, Sent>();
      var ours = claim(parcels, batch, sent);
      if (!ours.isEmpty()) bucket.write(packPrefix + pack, Pack.body(ours, parcels.size()));
      for (int i = 0; i < ours.size(); i++) {
        var hash = ours.get(i).block().hash();
        places.put(hash, new Place(pack, parcels.size(), i));
        sent.put(hash, new Sent.Written());
      }
      written = true;
      return sent;
    } finally {
      // Later, for who sends may have been interrupted, and has answered long enough.
      if (written) batch.keep();
      else requests.later(batch::giveUp);
    }
  }

  /** Claims all parcels; returns those that are ours to send, and says of the others why not. */
  private List<Parcel> claim(List<Parcel> parcels, Claims.Batch batch, Map<BlockHash, Sent> sent)
      throws IOException {
    var outcomes =
        requests.each(
            parcels,
            parcel -> {
              boolean wrong = parcel.write() == Write.REPLACE;
              return batch.claim(parcel.block(), wrong ? REPLACE : STORE);
            });
    var ours = new ArrayList<Parcel>();
    outcomes.forEach(
        (parcel, result) -> {
          var hash = parcel.block().hash();
          switch (result) {
            case Result.Failed(var reason) -> sent.put(hash, new Sent.Refused(reason));
            case Result.Done(Outcome.Ours _) -> ours.add(parcel);
            case Result.Done(Outcome.Stored()) -> sent.put(hash, new Sent.Present());
            case Result.Done(Outcome.Theirs(var who)) -> sent.put(hash, new Sent.Busy(who));
          }
        });
    return ours;
  }

  @Override
  public void fetch(List<TokenBlock> blocks, BiConsumer<BlockHash, Fetched> each)
      throws IOException {
    var fetched = new LinkedHashMap<BlockHash, Fetched>();
    var found = find(blocks, fetched);
    fetched.putAll(reader.read(found));
    fetched.forEach(
        (hash, outcome) -> {
          if (outcome instanceof Fetched.Absent) places.forget(hash);
          each.accept(hash, outcome);
        });
  }

  /** Finds where the blocks are; records in {@code fetched} why the others are not found. */
  private Map<BlockHash, Place> find(List<TokenBlock> blocks, Map<BlockHash, Fetched> fetched)
      throws IOException {
    var unknown = unknown(blocks, fetched);
    // Neighbours share a pack: the list of the first one often has all others.
    if (unknown.size() > 1) {
      query(unknown.subList(0, 1), fetched);
      // A server that does not answer for one is not asked for all.
      if (fetched.get(unknown.getFirst().hash()) instanceof Fetched.Lost(var reason)) {
        throw new IOException(reason);
      }
      unknown = unknown(unknown, fetched);
    }
    if (!unknown.isEmpty()) query(unknown, fetched);
    var found = new LinkedHashMap<BlockHash, Place>();
    for (var block : blocks) {
      var place = places.find(block.hash());
      if (place != null) found.put(block.hash(), place);
    }
    return found;
  }

  private List<TokenBlock> unknown(List<TokenBlock> blocks, Map<BlockHash, Fetched> fetched) {
    return blocks.stream()
        .filter(block -> places.find(block.hash()) == null && !fetched.containsKey(block.hash()))
        .toList();
  }

  private void query(List<TokenBlock> blocks, Map<BlockHash, Fetched> fetched) throws IOException {
    var held = requests.each(blocks, claims::find);
    var lists = new LinkedHashMap<Claim, List<BlockHash>>();
    held.forEach(
        (block, result) -> {
          switch (result) {
            case Result.Failed(var reason) -> fetched.put(block.hash(), new Fetched.Lost(reason));
            case Result.Done(var claim) when claim.isPresent() ->
                lists.computeIfAbsent(claim.get(), _ -> new ArrayList<>()).add(block.hash());
            case Result.Done(_) -> fetched.put(block.hash(), new Fetched.Absent());
          }
        });
    var read = requests.each(List.copyOf(lists.keySet()), reader::list);
    read.forEach(
        (claim, result) -> {
          for (var hash : lists.getOrDefault(claim, List.of())) {
            fetched.put(hash, new Fetched.Absent());
            if (result instanceof Result.Failed(var reason)) {
              fetched.put(hash, new Fetched.Lost(reason));
            }
          }
          if (result instanceof Result.Done(var list)) {
            list.forEach(
                (hash, index) -> {
                  places.put(hash, new Place(claim.pack(), claim.packBlocks(), index));
                  fetched.remove(hash);
                });
          }
        });
  }

  @Override
  public Map<BlockHash, Presence> look(List<TokenBlock> blocks) throws IOException {
    var fetched = new LinkedHashMap<BlockHash, Fetched>();
    var found = find(blocks, fetched);
    var seen = new LinkedHashMap<BlockHash, Presence>();
    for (var block : blocks) {
      var hash = block.hash();
      boolean absent = fetched.get(hash) instanceof Fetched.Absent;
      if (found.containsKey(hash)) seen.put(hash, Presence.THERE);
      else seen.put(hash, absent ? Presence.ABSENT : Presence.UNKNOWN);
    }
    return seen;
  }

  @Override
  public List<TokenBlock> list(int blocksMax) throws IOException {
    var blocks = new ArrayList<TokenBlock>();
    for (var object : bucket.list(claimPrefix, blocksMax)) {
      var block = BlockName.parse(object.name());
      if (block != null) blocks.add(block);
    }
    return blocks;
  }

  @Override
  public String generation() throws IOException {
    var note = bucket.read(generationName);
    return note == null ? "" : note.text();
  }

  @Override
  public void setGeneration(String generation) throws IOException {
    bucket.write(generationName, RequestBody.fromString(generation));
  }

  @Override
  public void keepGeneration(String generation) throws IOException {
    var _ = bucket.create(generationName, generation.getBytes(US_ASCII));
  }

  /** Packs first: a claim whose pack is gone is a miss, and no block is read by its place. */
  @Override
  public void removeAll(IntPredicate removed) throws IOException {
    var more = new AtomicBoolean(true);
    for (var prefix : List.of(packPrefix, claimPrefix)) {
      var _ =
          bucket.each(
              prefix,
              page -> {
                if (!more.get()) return;
                bucket.removeAll(page.stream().map(object -> prefix + object.name()).toList());
                // A block has one claim.
                more.set(removed.test(prefix.equals(claimPrefix) ? page.size() : 0));
              });
    }
  }

  @Override
  public void doubt() {
    // HTTP says where an answer ends: nothing can be out of step.
  }

  @Override
  public void close() {
    sweeper.close();
    requests.close();
    bucket.close();
  }
}
