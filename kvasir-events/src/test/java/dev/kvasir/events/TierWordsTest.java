package dev.kvasir.events;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.Sha256Hasher;
import dev.kvasir.kv.name.TokenSequence;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.router.index.BlockUnits;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Our engines and our router have the same words for a tier. */
class TierWordsTest {
  private static final int BLOCK = 4;

  @ParameterizedTest
  @EnumSource
  void whatAnEngineTellsOfATierIsBelievedOfThatTier(Tier tier) throws Exception {
    var received = new CompletableFuture<Tier>();
    var hasher = new Sha256Hasher("model", "");
    var blocks = new EngineBlocks((_, _) -> hasher, BLOCK, 10, new Received(received));
    var events = new KvEvents();
    var sequence = new TokenSequence(hasher, BLOCK);
    sequence.extend(new int[] {1, 2, 3, 4});
    try (var loop = new LiveLoop("engine")) {
      loop.execute(
          () -> {
            new KvEventForwarder(
                loop, events, 10, EngineHash.Form.WORD, batch -> batch.forEach(blocks::on));
            var settings = PoolSettings.of(tier, 1, BLOCK);
            var pool = new BlockPool(settings, new PrefixRegistry(), events);
            var empty = pool.allocate(1).orElseThrow().getFirst();
            empty.receive(sequence.block(0)).release();
          });
      assertThat(received.get(20, TimeUnit.SECONDS)).isEqualTo(tier);
    }
  }

  /** Target that notes what a router would know by now. */
  private record Received(CompletableFuture<Tier> stored) implements BlockUnits.Target {
    @Override
    public void on(KvEvent event) {
      if (event instanceof KvEvent.Stored(var tier, _)) stored.complete(tier);
    }

    @Override
    public void forget() {
      // Nothing is kept.
    }
  }
}
