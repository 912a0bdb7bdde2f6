package dev.kvasir.tiers.s3;

import static java.lang.System.Logger.Level.DEBUG;

import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.tiers.shared.BlockName;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Decides who may store a block: the one who wrote its claim.
 *
 * <pre>
 *   no claim     --create, if none is there-->   ours
 *   in its pack  -->  stored; replaced if its bytes are known to be wrong
 *   not in it    --replace, if it still has its tag-->  ours
 *   no pack yet  -->  theirs; older than the TTL: as if not in it
 * </pre>
 *
 * <p>Both writes are conditional on the server, so one wins. Age is measured by the clock of the
 * server alone.
 */
final class Claims {
  private static final System.Logger LOG = System.getLogger(Claims.class.getName());

  /** Outcome of claiming a block. */
  sealed interface Outcome {
    /** We are to store it; the tag is that of our claim. */
    record Ours(String tag) implements Outcome {}

    /** It is there. */
    record Stored() implements Outcome {}

    /** Another one is at it. */
    record Theirs(String owner) implements Outcome {}
  }

  /** Choice of whether a claim with a pack counts. */
  enum Intent {
    STORE,
    REPLACE
  }

  private final Bucket bucket;
  private final String prefix;
  private final PackReader reader;
  private final String owner;
  private final Duration ttl;
  private final Set<String> active = ConcurrentHashMap.newKeySet();

  Claims(Bucket bucket, String prefix, PackReader reader, String owner, Duration ttl) {
    this.bucket = bucket;
    this.prefix = prefix;
    this.reader = reader;
    this.owner = owner;
    this.ttl = ttl;
  }

  /** Begins a pack, so that its claims are not taken for those of the dead. */
  Batch begin(Claim claim) {
    active.add(claim.pack());
    return new Batch(claim);
  }

  /** The claim of the block, if there is one. */
  Optional<Claim> find(TokenBlock block) throws IOException {
    return Optional.ofNullable(bucket.read(name(block))).map(there -> Claim.parse(there.text()));
  }

  private Outcome claim(TokenBlock block, Claim claim, Intent intent) throws IOException {
    var name = name(block);
    var tag = bucket.create(name, claim.bytes());
    if (tag != null) return new Outcome.Ours(tag);
    var there = bucket.read(name);
    if (there == null) {
      // Given up between the two requests.
      tag = bucket.create(name, claim.bytes());
      return tag == null ? new Outcome.Theirs("another") : new Outcome.Ours(tag);
    }
    var held = Claim.parse(there.text());
    if (held != null) {
      var pack = reader.list(held);
      // A pack that is there without the block was made by one who did not know of this claim.
      boolean stored = pack.containsKey(block.hash());
      if (stored && intent == Intent.STORE) return new Outcome.Stored();
      boolean pending = pack.isEmpty() && !isDead(held, there.age());
      if (pending) return new Outcome.Theirs(held.owner());
    }
    tag = bucket.replace(name, there.tag(), claim.bytes());
    return tag == null ? new Outcome.Theirs("another") : new Outcome.Ours(tag);
  }

  private String name(TokenBlock block) {
    return prefix + BlockName.of(block);
  }

  private boolean isDead(Claim held, Duration age) {
    if (held.owner().equals(owner)) return !active.contains(held.pack());
    return age.compareTo(ttl) > 0;
  }

  /** The claims for one pack: all of them are kept, or all are given up. */
  final class Batch {
    private final Claim claim;
    private final Map<String, String> tags = new LinkedHashMap<>();
    private boolean over;

    private Batch(Claim claim) {
      this.claim = claim;
    }

    /** Claims a block; one that is won after the batch was given up is given up at once. */
    Outcome claim(TokenBlock block, Intent intent) throws IOException {
      var name = name(block);
      var outcome = Claims.this.claim(block, claim, intent);
      if (outcome instanceof Outcome.Ours(var tag) && !note(name, tag)) {
        bucket.remove(name, tag);
        return new Outcome.Theirs("nobody");
      }
      return outcome;
    }

    private synchronized boolean note(String name, String tag) {
      if (!over) tags.put(name, tag);
      return !over;
    }

    private synchronized Map<String, String> finish() {
      over = true;
      return new LinkedHashMap<>(tags);
    }

    /** The pack is there. */
    void keep() {
      finish();
      active.remove(claim.pack());
    }

    /** There will be no pack: others need not wait for the claims to end by themselves. */
    void giveUp() {
      try {
        for (var entry : finish().entrySet()) bucket.remove(entry.getKey(), entry.getValue());
      } catch (IOException e) {
        // A server that does not answer is not asked again: they end by themselves.
        LOG.log(DEBUG, "claims end by themselves in {0}: {1}", ttl, e.getMessage());
      } finally {
        active.remove(claim.pack());
      }
    }
  }
}
