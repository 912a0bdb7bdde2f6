package dev.kvasir.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kvasir.live.store.BlockSeals;
import dev.kvasir.live.store.SealSettings;
import dev.kvasir.live.store.remote.RedisBlocks;
import dev.kvasir.live.store.remote.RemoteSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.params.SetParams;

/** The remote tier, plain pipelines of Jedis, and redis-benchmark, with as much under way each. */
final class RemoteTrials {
  private static final int BLOCKS = Integer.getInteger("blocks", 512);
  private static final int DEPTH = 32;
  private static final int THREADS = 4;

  private RemoteTrials() {}

  static List<SharedTierBench.Trial> all(String node, int blockBytes) {
    var usual = RemoteSettings.of(node).withTtl(Duration.ofSeconds(20));
    var limits = usual.limits().withBatch(DEPTH).withThreads(THREADS);
    var settings = usual.with(limits.withTimeout(Duration.ofSeconds(30)));
    var seals = BlockSeals.of(blockBytes, 0, SealSettings.CHECKSUM);
    return List.of(
        new SharedTrial(
            "remote tier",
            BLOCKS,
            blockBytes,
            (loop, above) -> RedisBlocks.open(loop, above, settings, seals),
            () -> clear(node)),
        new Pipelines(node, blockBytes),
        new Benchmark(node, blockBytes));
  }

  private static void clear(String node) {
    try (var client = client(node)) {
      client.flushAll();
    }
  }

  private static Jedis client(String node) {
    var parts = node.split(":", -1);
    return new Jedis(parts[0], Integer.parseInt(parts[1]));
  }

  /** What anybody would write with Jedis: no checks, no tier. */
  private static final class Pipelines implements SharedTierBench.Trial {
    private final String node;
    private final int blockBytes;
    private final RedisClient client;
    private final byte[][] values = new byte[BLOCKS][];
    private int generation;

    Pipelines(String node, int blockBytes) {
      this.node = node;
      this.blockBytes = blockBytes;
      for (int i = 0; i < BLOCKS; i++) values[i] = new byte[blockBytes];
      var pool = new ConnectionPoolConfig();
      pool.setMaxTotal(THREADS);
      var parts = node.split(":", -1);
      this.client =
          RedisClient.builder()
              .hostAndPort(parts[0], Integer.parseInt(parts[1]))
              .poolConfig(pool)
              .build();
    }

    @Override
    public String name() {
      return "plain pipelines of Jedis";
    }

    @Override
    public void clear() {
      RemoteTrials.clear(node);
    }

    @Override
    public long store() throws IOException {
      generation++;
      return inParallel(
          key -> {
            try (var pipeline = client.pipelined()) {
              for (int i = key; i < key + DEPTH; i++) {
                pipeline.set(name(i), values[i], SetParams.setParams().px(20_000));
              }
              pipeline.sync();
            }
          });
    }

    @Override
    public long load() throws IOException {
      return inParallel(
          key -> {
            try (var pipeline = client.pipelined()) {
              for (int i = key; i < key + DEPTH; i++) pipeline.get(name(i));
              pipeline.sync();
            }
          });
    }

    private byte[] name(int key) {
      return ("plain:" + generation + ":" + key).getBytes(UTF_8);
    }

    private long inParallel(Step step) throws IOException {
      try (var threads = Executors.newFixedThreadPool(THREADS)) {
        var futures = new ArrayList<Future<?>>();
        for (int key = 0; key < BLOCKS; key += DEPTH) {
          int first = key;
          futures.add(threads.submit(() -> step.take(first)));
        }
        for (var future : futures) future.get();
      } catch (InterruptedException | ExecutionException e) {
        throw new IOException(e);
      }
      return (long) BLOCKS * blockBytes;
    }

    @Override
    public void close() {
      client.close();
    }

    /** Takes the blocks from that key on. */
    private interface Step {
      void take(int key);
    }
  }

  /** The server's own measure of itself, a program in C; its keys are by chance, as many. */
  private record Benchmark(String node, int blockBytes) implements SharedTierBench.Trial {
    /** More than for the others, so that its start does not count. */
    private static final int REQUESTS = 8 * BLOCKS;

    @Override
    public String name() {
      return "redis-benchmark";
    }

    @Override
    public void clear() {
      RemoteTrials.clear(node);
    }

    @Override
    public long store() throws IOException {
      run("set");
      return (long) REQUESTS * blockBytes;
    }

    /** Some keys of chance were drawn twice when storing, so that others were never stored. */
    @Override
    public long load() throws IOException {
      run("get");
      try (var client = client(node)) {
        return client.dbSize() * blockBytes;
      }
    }

    private void run(String test) throws IOException {
      var parts = node.split(":", -1);
      var command =
          List.of(
              "redis-benchmark",
              "-h",
              parts[0],
              "-p",
              parts[1],
              "-t",
              test,
              "-q",
              "-d",
              "" + blockBytes,
              "-P",
              "" + DEPTH,
              "-c",
              "" + THREADS,
              "-n",
              "" + REQUESTS,
              "-r",
              "" + REQUESTS);
      try {
        int status = new ProcessBuilder(command).start().waitFor();
        if (status != 0) throw new IOException("redis-benchmark ended with " + status);
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }

    @Override
    public void close() {}
  }
}
