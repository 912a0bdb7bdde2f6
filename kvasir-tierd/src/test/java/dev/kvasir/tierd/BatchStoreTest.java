package dev.kvasir.tierd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.tierd.cache.BatchStore;
import dev.kvasir.tierd.cache.LoadCosts;
import dev.kvasir.tierd.cache.NamespaceCache;
import dev.kvasir.tierd.cache.NamespaceCaches;
import dev.kvasir.tierd.protocol.Namespace;
import dev.kvasir.tierd.protocol.TierProtocol;
import dev.kvasir.tierd.protocol.TierRequest;
import dev.kvasir.tierd.settings.TierSettings;
import dev.kvasir.tiers.SharedTiers;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.time.VirtualLoop;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store of several chunks takes nothing for good that it does not keep. */
class BatchStoreTest {
  private static final Logger LOG = Logger.getLogger(BatchStore.class.getName());
  private static final int CHUNKS = 4;

  @TempDir Path temp;

  private static TierRequest.Store store(int... rows) {
    var blocks = new ArrayList<TokenBlock>();
    for (int i = 0; i < rows.length; i++) {
      var before = i == 0 ? null : new BlockHash(1, i, 3, 4);
      blocks.add(TokenBlock.named(new BlockHash(1, i + 1, 3, 4), before, i));
    }
    return new TierRequest.Store(7, "", blocks, rows);
  }

  @Test
  void aStoreThatThrowsGivesItsRoomAndNamesBackAndIsAnswered() {
    LOG.setLevel(Level.OFF);
    var loop = new VirtualLoop();
    var namespace = Namespace.parse(TierClient.namespace("aa"));
    var settings = TierSettings.DEFAULT.in(temp);
    var blocks = NamespaceCaches.blocks(namespace, settings);
    var cached = settings.tieredCache(namespace.rowBytes());
    try (var tiers = new SharedTiers(loop, cached, blocks, null);
        var engine = new HostMemory("an engine", CHUNKS, namespace.rowBytes());
        var step = tiers.step(engine)) {
      var cache = new NamespaceCache(loop, namespace, tiers, new LoadCosts(), settings, null);
      var answers = new ArrayList<byte[]>();
      int free = tiers.host().free();
      cache.store(step, store(0, 1, CHUNKS + 1), answers::add);
      loop.run(100);
      assertThat(answers).containsExactly(failed(3));
      assertThat(tiers.host().free()).isEqualTo(free);
      cache.store(step, store(0, 1, 2), answers::add);
      loop.run(100);
      assertThat(answers.getLast()).containsExactly(0, 0, 0);
      assertThat(tiers.host().cached()).isEqualTo(3);
    }
  }

  private static byte[] failed(int chunks) {
    var each = new byte[chunks];
    for (int i = 0; i < chunks; i++) each[i] = TierProtocol.CHUNK_FAILED;
    return each;
  }
}
