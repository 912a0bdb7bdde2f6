package dev.kvasir.bench;

import static dev.kvasir.bench.SharedTierBench.BLOCK_BYTES;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Locale.ROOT;

import dev.kvasir.Records;
import dev.kvasir.tiers.redis.RedisBlocks;
import dev.kvasir.tiers.redis.RemoteSettings;
import dev.kvasir.tiers.shared.BlockSeals;
import dev.kvasir.tiers.shared.SealSettings;
import dev.kvasir.tiers.shared.SharedLimits;
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

/**
 * The remote tier, plain pipelines of Jedis, and redis-benchmark: as many blocks, connections and
 * commands under way each, all keys new when stored and there when loaded.
 */
final class RemoteTrials {
  private static final int BLOCKS = Integer.getInteger("blocks", (256 << 20) / BLOCK_BYTES);
  private static final int DEPTH = Math.min(32, (32 << 20) / BLOCK_BYTES);
  private static final int THREADS = 4;

  private RemoteTrials() {}

  static List<SharedTierBench.Trial> all(String node) {
    var limits = new SharedLimits(THREADS, DEPTH, BLOCKS, Duration.ofSeconds(30));
    var ttl = Duration.ofSeconds(20);
    var settings = Records.with(RemoteSettings.of(node), "ttl", ttl, "limits", limits);
    var seals = BlockSeals.of(BLOCK_BYTES, 0, SealSettings.CHECKSUM);
    return List.of(
        new SharedTrial(
            "remote tier",
            BLOCKS,
            BLOCK_BYTES,
            (loop, above) -> RedisBlocks.open(loop, above, settings, seals),
            () -> clear(node)),
        new Pipelines(node),
        new Benchmark(node));
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

  /** Trial that uses Jedis in the obvious way: no checks, no tier. */
  private static final class Pipelines implements SharedTierBench.Trial {
    private final String node;
    private final RedisClient client;
    private final byte[][] values = new byte[BLOCKS][];
    private int generation;

    Pipelines(String node) {
      this.node = node;
      for (int i = 0; i < BLOCKS; i++) values[i] = new byte[BLOCK_BYTES];
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
    public double store() throws IOException {
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
    public double load() throws IOException {
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

    private double inParallel(Step step) throws IOException {
      long start = System.nanoTime();
      try (var threads = Executors.newFixedThreadPool(THREADS)) {
        var futures = new ArrayList<Future<?>>();
        for (int key = 0; key < BLOCKS; key += DEPTH) {
          int first = key;
          futures.add(threads.submit(() -> step.run(first)));
        }
        for (var future : futures) future.get();
      } catch (InterruptedException | ExecutionException e) {
        throw new IOException(e);
      }
      return (double) BLOCKS * BLOCK_BYTES / (System.nanoTime() - start);
    }

    @Override
    public void close() {
      client.close();
    }

    /** Step of a trial, for the blocks from that key on. */
    private interface Step {
      void run(int key);
    }
  }

  /** The server's own measure of itself, a program in C, by its own clock. */
  private record Benchmark(String node) implements SharedTierBench.Trial {
    /** So many keys by chance are all new. */
    private static final int KEYS_MANY = 1_000_000_000;

    @Override
    public String name() {
      return "redis-benchmark";
    }

    @Override
    public void clear() {
      RemoteTrials.clear(node);
    }

    @Override
    public double store() throws IOException {
      return run("set", KEYS_MANY);
    }

    /** It draws its keys by chance, so that those it stored are not those that it then asks for. */
    @Override
    public double load() throws IOException {
      clear();
      try (var client = client(node)) {
        var value = new byte[BLOCK_BYTES];
        for (int i = 0; i < BLOCKS; i++)
          client.set("key:%012d".formatted(i).getBytes(UTF_8), value);
      }
      return run("get", BLOCKS);
    }

    private double run(String test, int keys) throws IOException {
      var parts = node.split(":", -1);
      var command =
          "redis-benchmark --csv -h %s -p %s -t %s -d %d -P %d -c %d -n %d -r %d"
              .formatted(parts[0], parts[1], test, BLOCK_BYTES, DEPTH, THREADS, BLOCKS, keys);
      var process = new ProcessBuilder(command.split(" ", -1)).start();
      try (var out = process.inputReader()) {
        // "SET","15312.15",...
        var rates = out.lines().filter(line -> line.startsWith("\"" + test.toUpperCase(ROOT)));
        var rate = rates.findFirst().orElseThrow(() -> new IOException("no answer to " + command));
        return Double.parseDouble(rate.split("\"", -1)[3]) * BLOCK_BYTES / 1e9;
      }
    }

    @Override
    public void close() {}
  }
}
