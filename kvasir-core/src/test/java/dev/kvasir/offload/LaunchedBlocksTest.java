package dev.kvasir.offload;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.onboard.LoadWindows;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.OnboardingLimits;
import dev.kvasir.offload.pipeline.OffloadPipeline;
import dev.kvasir.offload.pipeline.OffloadPolicy;
import dev.kvasir.offload.pipeline.PipelineSettings;
import dev.kvasir.offload.pipeline.ReuseCost;
import dev.kvasir.offload.store.SlowStore;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** P6: what a step on its way fills is offered down at once, and waits there for its landing. */
class LaunchedBlocksTest {
  private static final int BLOCK_TOKENS = 4;
  private static final int BLOCKS = 3;
  private static final Duration SECOND = Duration.ofSeconds(1);

  private record Names(long own) implements BlockNames {
    @Override
    public BlockHash name(int index) {
      return new BlockHash(own, index, 3, 4);
    }

    @Override
    public TokenBlock block(int index) {
      return TokenBlock.named(name(index), index == 0 ? null : name(index - 1), index);
    }
  }

  private final VirtualLoop loop = new VirtualLoop();
  private final FrequencySketch uses = new FrequencySketch(1_000);
  private final PrefixRegistry registry = new PrefixRegistry(uses);
  private final BlockPool top = pool(Tier.DEVICE);
  private final BlockPool host = pool(Tier.HOST);
  private final TieredKvCache cache = cache();
  private final OffloadPipeline edge = cache.edges().getFirst();
  private final Names names = new Names(7);

  private BlockPool pool(Tier tier) {
    return new BlockPool(PoolSettings.of(tier, 16, BLOCK_TOKENS), registry, new KvEvents());
  }

  /** A block that was used once passes, and one that never was does not. */
  private TieredKvCache cache() {
    var store = new SlowStore(loop, Duration.ofMillis(1), 1_000);
    var lower =
        new LowerTier(
            host,
            store,
            OffloadPolicy.frequency(0),
            PipelineSettings.DEFAULT,
            ReuseCost.FREE,
            LoadWindows.WHOLE);
    return new TieredKvCache(loop, registry, top, List.of(lower), OnboardingLimits.DEFAULT, uses);
  }

  @Test
  void theyMoveWhenTheStepHasLandedAndNotBefore() {
    var span = requireNonNull(cache.open(names, 0));
    span.reserve(BLOCKS * BLOCK_TOKENS);
    span.start();
    assertThat(span.launch(BLOCKS * BLOCK_TOKENS)).isTrue();
    loop.runFor(SECOND);
    assertThat(edge.load().waiting()).isEqualTo(BLOCKS);
    assertThat(cache.match(names, BLOCKS).blocks()).isZero();
    assertThat(host.held() + host.cached()).isZero();
    span.fill(BLOCKS * BLOCK_TOKENS);
    loop.runFor(SECOND);
    assertThat(host.cached()).isEqualTo(BLOCKS);
    assertThat(edge.totals().completed()).isEqualTo(BLOCKS);
    span.release();
    assertThat(top.held()).isZero();
  }

  @Test
  void aStepThatFailsCancelsThem() {
    var span = requireNonNull(cache.open(names, 0));
    span.reserve(BLOCKS * BLOCK_TOKENS);
    span.start();
    span.launch(BLOCKS * BLOCK_TOKENS);
    loop.runFor(SECOND);
    span.release();
    assertThat(edge.totals().cancelled()).isEqualTo(BLOCKS);
    loop.runFor(SECOND);
    assertThat(edge.load().isEmpty()).isTrue();
    assertThat(cache.settlement().pending()).isZero();
    assertThat(top.free()).isEqualTo(top.total());
    assertThat(host.free()).isEqualTo(host.total());
  }
}
