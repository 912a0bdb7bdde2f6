package dev.kvasir.tiers.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static redis.clients.jedis.Protocol.Command.SET;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.net.redis.RedisAccess.Tls;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.redis.RemoteSettings.Shape;
import dev.kvasir.tiers.shared.BlockName;
import dev.kvasir.tiers.shared.BlockSeals;
import dev.kvasir.tiers.shared.BlockTransport;
import dev.kvasir.tiers.shared.Presence;
import dev.kvasir.tiers.shared.SharedStore;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntPredicate;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.BuilderFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.CommandObject;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.args.Rawable;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.SetParams;

/**
 * Blocks in Redis or Valkey: one key each, many in one round trip.
 *
 * <p>What the server evicts or lets expire is absent, and no more is said about it. Who connects is
 * the first who needs it, so a server that is down does not keep anybody from starting.
 */
public final class RedisBlocks implements BlockTransport {
  private static final int SCAN_COUNT = 1000;
  private static final String GENERATION = "generation";

  private final RemoteSettings settings;
  private final int sealedBytes;
  private final String prefix;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicLong doubts = new AtomicLong();
  private final Renewals renewals;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable UnifiedJedis client;
  private boolean closed;

  RedisBlocks(RemoteSettings settings, BlockSeals seals) {
    this.settings = settings;
    this.sealedBytes = seals.sealedBytes();
    this.prefix = settings.prefix() + ":" + seals.namespace() + ":";
    this.renewals = new Renewals(settings.ttl(), System::nanoTime);
  }

  /** A remote tier below those slots. */
  public static SharedStore open(
      EventLoop loop, HostMemory above, RemoteSettings settings, BlockSeals seals) {
    var transport = new RedisBlocks(settings, seals);
    return new SharedStore(
        threads(settings), "remote", loop, above, settings.limits(), seals, transport);
  }

  /**
   * Every thread leaves a channel when it is interrupted, and one of the platform is back at work
   * sooner after it has waited. Only virtual ones leave a stream.
   */
  private static Thread.Builder threads(RemoteSettings settings) {
    boolean channels = settings.shape() == Shape.SINGLE && settings.access().tls() == Tls.OFF;
    return channels ? Thread.ofPlatform().daemon(true) : Thread.ofVirtual();
  }

  @Override
  public void fetch(List<TokenBlock> blocks, BiConsumer<BlockHash, Fetched> each)
      throws IOException {
    var due = renewals.due(blocks);
    if (!(client() instanceof RedisClient single)) {
      var replies = query(blocks, due, (pipeline, block) -> pipeline.get(key(block)));
      results(replies, RedisBlocks::fetched, Fetched.Lost::new).forEach(each);
      return;
    }
    exchange(
        single,
        connection -> {
          connection.get(blocks.stream().map(this::key).toList());
          connection.expire(due.stream().map(this::key).toList(), settings.ttl());
          for (var block : blocks) each.accept(block.hash(), fetched(connection));
          for (var _ : due) connection.skip();
        });
  }

  private static Fetched fetched(byte @Nullable [] bytes) {
    return bytes == null ? new Fetched.Absent() : new Fetched.Found(ByteBuffer.wrap(bytes));
  }

  /** An error is that of one block alone. */
  private static Fetched fetched(BlockConnection connection) throws IOException {
    try {
      var bytes = connection.block();
      return bytes == null ? new Fetched.Absent() : new Fetched.Found(bytes);
    } catch (JedisDataException e) {
      return new Fetched.Lost("" + e.getMessage());
    }
  }

  /** Some commands and all of their replies. */
  private interface Exchange {
    void over(BlockConnection connection) throws IOException;
  }

  /** Speaks past Jedis; a connection that may be out of step then is not used again. */
  private void exchange(RedisClient single, Exchange exchange) throws IOException {
    long doubtsBefore = doubts.get();
    try (var connection = (BlockConnection) single.getPool().getResource()) {
      boolean inStep = false;
      try {
        exchange.over(connection);
        inStep = doubts.get() == doubtsBefore;
      } finally {
        if (!inStep) connection.setBroken();
      }
    } catch (JedisException e) {
      throw new IOException(e.getMessage(), e);
    } catch (RuntimeException e) {
      doubt();
      throw new IOException("the answer makes no sense: " + e.getMessage(), e);
    }
  }

  /** Those that are there only live longer, and their bytes do not travel. */
  @Override
  public Map<BlockHash, Sent> send(List<Parcel> parcels) throws IOException {
    long ttlMillis = settings.ttl().toMillis();
    var wanted = parcels.stream().filter(parcel -> parcel.write() == Write.IF_ABSENT);
    var there =
        results(
            query(
                wanted.map(Parcel::block).toList(),
                List.of(),
                (pipeline, block) -> pipeline.pexpire(key(block), ttlMillis)),
            count -> count != null && count > 0 ? Presence.THERE : Presence.ABSENT,
            _ -> Presence.UNKNOWN);
    var sent = new LinkedHashMap<BlockHash, Sent>();
    var missing = new LinkedHashMap<BlockHash, Parcel>();
    for (var parcel : parcels) {
      var hash = parcel.block().hash();
      switch (there.getOrDefault(hash, Presence.ABSENT)) {
        case THERE -> sent.put(hash, new Sent.Present());
        case UNKNOWN -> sent.put(hash, new Sent.Refused("the server did not say if it is there"));
        case ABSENT -> missing.put(hash, parcel);
      }
    }
    sent.putAll(write(missing));
    return sent;
  }

  private Map<BlockHash, Sent> write(Map<BlockHash, Parcel> missing) throws IOException {
    var sent = new LinkedHashMap<BlockHash, Sent>();
    if (client() instanceof RedisClient single) {
      exchange(
          single,
          connection -> {
            for (var parcel : missing.values()) {
              connection.set(key(parcel.block()), parcel.sealed(), how(parcel));
            }
            for (var hash : missing.keySet()) sent.put(hash, sent(connection));
          });
      return sent;
    }
    var replies = new LinkedHashMap<BlockHash, Response<String>>();
    run(
        pipeline ->
            missing.forEach(
                (hash, parcel) -> {
                  // Jedis copies arrays, but not what is Rawable.
                  Rawable bytes = parcel.sealed()::bytes;
                  var set = new CommandArguments(SET).key(key(parcel.block())).add(bytes);
                  for (var word : how(parcel)) set.add(word);
                  var command = new CommandObject<>(set, BuilderFactory.STRING);
                  replies.put(hash, pipeline.executeCommand(command));
                }));
    return results(
        replies, ok -> ok == null ? new Sent.Present() : new Sent.Written(), Sent.Refused::new);
  }

  private List<String> how(Parcel parcel) {
    var ttlMillis = "" + settings.ttl().toMillis();
    return switch (parcel.write()) {
      case REPLACE -> List.of("PX", ttlMillis);
      case IF_ABSENT -> List.of("PX", ttlMillis, "NX");
    };
  }

  private static Sent sent(BlockConnection connection) throws IOException {
    try {
      return connection.isSet() ? new Sent.Written() : new Sent.Present();
    } catch (JedisDataException e) {
      return new Sent.Refused("" + e.getMessage());
    }
  }

  @Override
  public Map<BlockHash, Presence> look(List<TokenBlock> blocks) throws IOException {
    return results(
        query(blocks, renewals.due(blocks), (pipeline, block) -> pipeline.exists(key(block))),
        there -> there != null && there ? Presence.THERE : Presence.ABSENT,
        _ -> Presence.UNKNOWN);
  }

  @Override
  public List<TokenBlock> list(int blocksMax) throws IOException {
    var blocks = new ArrayList<TokenBlock>();
    var scan = called(client -> client.scanIteration(SCAN_COUNT, prefix + "*"));
    while (!scan.isIterationCompleted() && blocks.size() < blocksMax) {
      for (var key : called(_ -> scan.nextBatch().getResult())) {
        var block = BlockName.parse(key.substring(prefix.length()));
        if (block != null && blocks.size() < blocksMax) blocks.add(block);
      }
    }
    return blocks;
  }

  private <T> T called(Function<UnifiedJedis, T> command) throws IOException {
    try {
      return command.apply(client());
    } catch (JedisException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  @Override
  public String generation() throws IOException {
    return called(client -> Objects.requireNonNullElse(client.get(prefix + GENERATION), ""));
  }

  @Override
  public void setGeneration(String generation) throws IOException {
    var _ = called(client -> client.set(prefix + GENERATION, generation));
  }

  @Override
  public void keepGeneration(String generation) throws IOException {
    var ifAbsent = SetParams.setParams().nx();
    var _ = called(client -> "" + client.set(prefix + GENERATION, generation, ifAbsent));
  }

  @Override
  public void removeAll(IntPredicate removed) throws IOException {
    var scan = called(client -> client.scanIteration(SCAN_COUNT, prefix + "*"));
    while (!scan.isIterationCompleted()) {
      var keys = new ArrayList<>(called(_ -> scan.nextBatch().getResult()));
      keys.remove(prefix + GENERATION);
      // One command for each key: those of one command must lie on one node of a cluster.
      run(pipeline -> keys.forEach(pipeline::unlink));
      if (!removed.test(keys.size())) return;
    }
  }

  @Override
  public void doubt() {
    doubts.incrementAndGet();
    lock.lock();
    try {
      switch (client) {
        case null -> {}
        case RedisClient single -> single.getPool().clear();
        case RedisClusterClient cluster ->
            cluster.getClusterNodes().values().forEach(ConnectionPool::clear);
        default -> throw new IllegalStateException("a client of " + client.getClass());
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      if (client != null) client.close();
      threads.shutdownNow();
    } finally {
      lock.unlock();
    }
  }

  private byte[] key(TokenBlock block) {
    return (prefix + BlockName.of(block)).getBytes(UTF_8);
  }

  /** Queries all blocks in one round trip, which also renews the time to live of some. */
  private <T> Map<BlockHash, Response<T>> query(
      List<TokenBlock> blocks,
      List<TokenBlock> due,
      BiFunction<AbstractPipeline, TokenBlock, Response<T>> command)
      throws IOException {
    var replies = new LinkedHashMap<BlockHash, Response<T>>();
    run(
        pipeline -> {
          for (var block : blocks) replies.put(block.hash(), command.apply(pipeline, block));
          long ttlMillis = settings.ttl().toMillis();
          for (var block : due) pipeline.pexpire(key(block), ttlMillis);
        });
    return replies;
  }

  private void run(Consumer<AbstractPipeline> commands) throws IOException {
    try (var pipeline = pipeline(client())) {
      commands.accept(pipeline);
      pipeline.sync();
    } catch (JedisException e) {
      throw new IOException(e.getMessage(), e);
    } catch (RuntimeException e) {
      // Not what the protocol has words for: what comes next on that connection is anybody's.
      doubt();
      throw new IOException("the answer makes no sense: " + e.getMessage(), e);
    }
  }

  /** A cluster is asked by a thread for each node, and Jedis would start new ones each time. */
  private AbstractPipeline pipeline(UnifiedJedis jedis) {
    return jedis instanceof RedisClusterClient cluster
        ? cluster.pipelined(threads)
        : jedis.pipelined();
  }

  /**
   * Collects the result of each reply; one that never came, or is an error, fails its block alone.
   */
  private static <T, R> Map<BlockHash, R> results(
      Map<BlockHash, Response<T>> replies,
      Function<@Nullable T, R> meaning,
      Function<String, R> failure) {
    var results = new LinkedHashMap<BlockHash, R>();
    replies.forEach(
        (hash, reply) -> {
          try {
            results.put(hash, meaning.apply(reply.get()));
          } catch (JedisException | IllegalStateException e) {
            results.put(hash, failure.apply("" + e.getMessage()));
          }
        });
    return results;
  }

  private UnifiedJedis client() throws IOException {
    try {
      lock.lockInterruptibly();
    } catch (InterruptedException e) {
      throw new IOException("interrupted", e);
    }
    try {
      if (closed) throw new IOException("the store is closed");
      if (client == null) client = RedisConnection.open(settings, sealedBytes);
      return client;
    } finally {
      lock.unlock();
    }
  }
}
