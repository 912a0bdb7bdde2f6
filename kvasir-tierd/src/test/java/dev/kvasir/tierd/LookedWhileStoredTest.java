package dev.kvasir.tierd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.Records;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.tierd.cache.LoadCosts;
import dev.kvasir.tierd.cache.NamespaceCache;
import dev.kvasir.tierd.cache.NamespaceCaches;
import dev.kvasir.tierd.protocol.Namespace;
import dev.kvasir.tierd.protocol.TierRequest;
import dev.kvasir.tierd.settings.TierSettings;
import dev.kvasir.tiers.EdgeSettings;
import dev.kvasir.tiers.GuardSettings;
import dev.kvasir.tiers.HostTier;
import dev.kvasir.tiers.SharedTiers;
import dev.kvasir.tiers.TierConfig;
import dev.kvasir.tiers.TieredCacheSettings;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.LowerStore;
import dev.kvasir.tiers.shared.BlockSeals;
import dev.kvasir.tiers.shared.BlockTransport;
import dev.kvasir.tiers.shared.Presence;
import dev.kvasir.tiers.shared.SealSettings;
import dev.kvasir.tiers.shared.SharedLimits;
import dev.kvasir.tiers.shared.SharedStore;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import dev.kvasir.time.VirtualLoop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A chunk that is stored here while a server is asked for it keeps its place behind another. */
@Timeout(180)
class LookedWhileStoredTest {
  private static final BlockHash PARENT = new BlockHash(1, 1, 3, 4);
  private static final BlockHash CHUNK = new BlockHash(1, 2, 3, 4);

  /** A loop whose tasks the test runs one by one, in the order that it wants. */
  private static final class StoppedLoop implements EventLoop {
    private final VirtualLoop time = new VirtualLoop();
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

    @Override
    public long nanos() {
      return time.nanos();
    }

    @Override
    public void execute(Runnable task) {
      tasks.add(task);
    }

    @Override
    public Timer after(Duration delay, Runnable task) {
      return time.after(delay, task);
    }

    Runnable next() throws InterruptedException {
      var task = tasks.poll(30, TimeUnit.SECONDS);
      if (task == null) throw new AssertionError("nothing to run");
      return task;
    }
  }

  /** A server that has whatever it is asked for, and takes whatever it is sent. */
  private static final class FullServer implements BlockTransport {
    @Override
    public void fetch(List<TokenBlock> blocks, BiConsumer<BlockHash, Fetched> each) {
      for (var block : blocks) each.accept(block.hash(), new Fetched.Absent());
    }

    @Override
    public Map<BlockHash, Sent> send(List<Parcel> parcels) {
      var sent = new LinkedHashMap<BlockHash, Sent>();
      for (var parcel : parcels) sent.put(parcel.block().hash(), new Sent.Present());
      return sent;
    }

    @Override
    public Map<BlockHash, Presence> look(List<TokenBlock> blocks) {
      var there = new LinkedHashMap<BlockHash, Presence>();
      for (var block : blocks) there.put(block.hash(), Presence.THERE);
      return there;
    }

    @Override
    public List<TokenBlock> list(int blocksMax) {
      return List.of();
    }

    @Override
    public String generation() {
      return "";
    }

    @Override
    public void setGeneration(String generation) {}

    @Override
    public void keepGeneration(String generation) {}

    @Override
    public void removeAll(IntPredicate removed) {}

    @Override
    public void doubt() {}

    @Override
    public void close() {}
  }

  /** A tier on that server. */
  private record ServerTier(int blocks, EdgeSettings edge, GuardSettings guard)
      implements TierConfig.Shared {
    @Override
    public Tier tier() {
      return Tier.REMOTE;
    }

    @Override
    public String place(@Nullable Path folder) {
      return "a server of a test";
    }

    @Override
    public SealSettings seal() {
      return SealSettings.CHECKSUM;
    }

    @Override
    public Duration lookTime() {
      return Duration.ofSeconds(1);
    }

    @Override
    public Duration kept() {
      return Duration.ofDays(1);
    }

    @Override
    public LowerStore open(Opening opening) {
      var seals = BlockSeals.of(opening.memory().blockBytes(), opening.layout(), seal());
      var limits = new SharedLimits(1, 8, 64, Duration.ofSeconds(30));
      return new SharedStore(
          Thread.ofVirtual(),
          "server",
          opening.loop(),
          opening.memory(),
          limits,
          seals,
          new FullServer());
    }
  }

  @Test
  void aChunkThatIsStoredWhileItIsLookedForIsEvictedBehindItsParent() throws Exception {
    var loop = new StoppedLoop();
    var namespace = Namespace.parse(TierClient.namespace("aa"));
    var settings = TierSettings.DEFAULT;
    var blocks = NamespaceCaches.blocks(namespace, settings);
    var below = new ServerTier(16, EdgeSettings.DEFAULT, GuardSettings.DEFAULT);
    var host = Records.with(HostTier.DEFAULT, "blocks", 8);
    try (var tiers =
            new SharedTiers(loop, new TieredCacheSettings(host, List.of(below)), blocks, null);
        var engine = new HostMemory("an engine", 4, namespace.rowBytes());
        var step = tiers.step(engine)) {
      var cache = new NamespaceCache(loop, namespace, tiers, new LoadCosts(), settings, null);
      var server = tiers.places().getFirst().pool();
      var looked = new ArrayList<byte[]>();
      var stored = new ArrayList<byte[]>();
      cache.look(List.of(CHUNK), looked::add);
      var next = loop.next();
      var chunk = TokenBlock.named(CHUNK, PARENT, 1);
      cache.store(step, new TierRequest.Store(7, "", List.of(chunk), new int[] {0}), stored::add);
      var copied = loop.next();
      next.run();
      assertThat(looked).hasSize(1);
      assertThat(server.has(CHUNK)).isFalse();
      copied.run();
      assertThat(stored).hasSize(1);
      assertThat(stored.getFirst()).containsExactly(0);
      sendDown(loop, tiers);
      assertThat(tiers.host().evict(1)).extracting(TokenBlock::parent).containsExactly(PARENT);
      assertThat(tiers.host().allocate(8)).isPresent();
    }
  }

  /** Runs the loop until nobody holds the chunk any more. */
  private static void sendDown(StoppedLoop loop, SharedTiers tiers) throws InterruptedException {
    while (tiers.host().cached() == 0) {
      var task = loop.tasks.poll();
      if (task != null) task.run();
      else if (loop.time.nextNanos() < Long.MAX_VALUE) loop.time.step();
      else loop.next().run();
    }
  }
}
