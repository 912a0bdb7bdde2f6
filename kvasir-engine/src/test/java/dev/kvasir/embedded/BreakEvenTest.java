package dev.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.model.PocketModel;
import dev.kvasir.model.sample.SamplingSettings;
import dev.kvasir.net.redis.RedisServer;
import dev.kvasir.offload.pipeline.PipelineSettings;
import dev.kvasir.offload.pipeline.ReuseCost;
import dev.kvasir.tiers.EdgeSettings;
import dev.kvasir.tiers.GuardSettings;
import dev.kvasir.tiers.RemoteTier;
import dev.kvasir.tiers.TieredCacheSettings;
import dev.kvasir.tiers.host.Quiet;
import dev.kvasir.tiers.redis.RemoteSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A prefix of 600 tokens lies on a Redis: its costs decide between loading and computing it. */
@Tag("all")
class BreakEvenTest {
  private static final int PREFIX_TOKENS = 600;
  private static final int BLOCKS = PREFIX_TOKENS / 16;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration LESS = Duration.ofNanos(999_999);
  private static final Duration MORE = Duration.ofMillis(1);

  private static LoadedModel model;
  private final int[] prompt = new SplittableRandom(8).ints(PREFIX_TOKENS, 300, 4_000).toArray();

  @TempDir private Path folder;

  @BeforeAll
  static void start() throws IOException {
    Quiet.please();
    model = LoadedModel.builtIn(PocketModel.folder(), 2);
  }

  @AfterAll
  static void stop() {
    model.close();
  }

  @Test
  void prefixIsLoadedOnlyWhereLoadingCostsLess() throws Exception {
    try (var redis = RedisServer.start(folder.resolve("redis"))) {
      assertThat(blocksLoaded(redis, ReuseCost.FREE)).as("nothing is stored yet").isZero();
      assertThat(blocksLoaded(redis, perBlock(LESS, MORE))).isEqualTo(BLOCKS);
      assertThat(blocksLoaded(redis, perBlock(MORE, LESS))).isZero();
    }
  }

  private static ReuseCost perBlock(Duration load, Duration recompute) {
    return new ReuseCost(Duration.ZERO, load, recompute);
  }

  /**
   * Returns the number of blocks that an engine with nothing in its memory loads. What it computed
   * is stored when this returns.
   */
  private int blocksLoaded(RedisServer redis, ReuseCost cost) throws IOException {
    var server = RemoteSettings.of("127.0.0.1:" + redis.port());
    var patient = Records.with(server, "limits", server.limits().withTimeout(PATIENCE));
    var guard = new GuardSettings(5, Duration.ofSeconds(5), PATIENCE);
    var edge = new EdgeSettings(0, PipelineSettings.DEFAULT, cost);
    var seal = RemoteTier.DEFAULT.seal();
    var tiers =
        TieredCacheSettings.of(256, 0)
            .with(new RemoteTier(256, patient, seal, PATIENCE, guard, edge));
    var settings =
        new EngineGroupSettings(1, 256, tiers, folder.resolve("disk"), EngineSettings.DEFAULT);
    try (var group = EngineGroup.open(model, settings)) {
      var engine = group.engines().getFirst();
      var request = GenerationRequest.of("r", prompt, 1, SamplingSettings.greedy());
      var answers = new Answers(1);
      engine.loop().execute(() -> engine.learn(request, named -> engine.submit(named, answers)));
      int fromRedis = answers.await().usage("r").cached().on(Tier.REMOTE);
      assertThat(group.drain(PATIENCE)).isTrue();
      return fromRedis;
    }
  }
}
