package dev.kvasir.live.tier;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Sha256;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.time.EventLoop;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Values of any length under keys of any kind, in the blocks of a namespace: the first begins with
 * the length, the others follow it as a sequence does.
 *
 * <p>Called from threads that may wait; all that the tiers know belongs to the loop. The bytes of a
 * value that is held are read where they lie, in host memory.
 *
 * <pre>
 *   absent --room--> written by the caller --commit--> there --remove--> absent
 *                             '------abort--> absent
 * </pre>
 */
final class StoredValues {
  /** The length of the value, and a mark. */
  static final int HEAD_BYTES = 16;

  private static final long MARK = 0x564b5f5056534552L;
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration PROMISE = Duration.ofSeconds(30);
  private static final Duration RETRY = Duration.ofMillis(5);
  private static final int RETRIES_MAX = 200;
  private static final int PROMISED_SHARE = 4;

  private final EventLoop loop;
  private final NamespaceCache cache;
  private final BlockPool host;
  private final int blockBytes;

  /** Values that somebody was told are there, and that are kept for a while. */
  private final Map<BlockHash, Held> promised = new LinkedHashMap<>();

  private int promisedBlocks;

  StoredValues(EventLoop loop, NamespaceCache cache) {
    this.loop = loop;
    this.cache = cache;
    this.host = cache.tiers().host();
    this.blockBytes = cache.namespace().rowBytes();
  }

  /** A value that is in host memory as long as it is held. */
  record Held(List<Block.Registered> blocks, long length) {}

  /** Room for a value that is not there yet. */
  record Room(List<Block.Empty> blocks, List<BlockHash> names, long length) {}

  NamespaceCache cache() {
    return cache;
  }

  /** How many blocks a value of that length needs. */
  int blocks(long length) {
    return Math.toIntExact((HEAD_BYTES + length + blockBytes - 1) / blockBytes);
  }

  /** The part of the value that lies in its block of that number. */
  ByteBuffer part(int slot, int number, long length) {
    long from = Math.max(0, (long) number * blockBytes - HEAD_BYTES);
    int head = number == 0 ? HEAD_BYTES : 0;
    int bytes = (int) Math.min(blockBytes - head, length - from);
    return cache.tiers().memory().slot(slot).asSlice(head, bytes).asByteBuffer();
  }

  /** The value, held; null if it is not there. */
  @Nullable
  Held find(byte[] key) {
    return this.<@Nullable Held>asked(answer -> find(name(key, 0), key, answer));
  }

  /** Whether the value is there; if so it is kept until it is fetched, or for a while. */
  boolean exists(byte[] key) {
    Boolean there =
        asked(
            answer ->
                find(
                    name(key, 0),
                    key,
                    new CompletableFuture<@Nullable Held>() {
                      @Override
                      public boolean complete(@Nullable Held held) {
                        if (held != null) promise(name(key, 0), held);
                        return answer.complete(held != null);
                      }
                    }));
    return there;
  }

  /** The value has been read, or is not wanted. */
  void release(byte[] key, Held held) {
    loop.execute(
        () -> {
          host.release(held.blocks());
          fulfil(name(key, 0));
        });
  }

  /** Room for a value in place of what is there; null if there is none just now. */
  @Nullable
  Room room(byte[] key, long length) {
    return this.<@Nullable Room>asked(answer -> room(key, length, 0, answer));
  }

  /** The bytes are in their room. */
  void commit(Room room) {
    var first = cache.tiers().memory().slot(room.blocks().getFirst().id()).asByteBuffer();
    first.order(LITTLE_ENDIAN).putLong(0, MARK).putLong(Long.BYTES, room.length());
    loop.execute(
        () -> {
          var blocks = new ArrayList<Block.Registered>();
          for (int i = 0; i < room.blocks().size(); i++) {
            var parent = i == 0 ? null : room.names().get(i - 1);
            var content = TokenBlock.named(room.names().get(i), parent, i);
            blocks.add(room.blocks().get(i).receive(content));
          }
          cache.keep(blocks);
        });
  }

  void abort(Room room) {
    loop.execute(() -> host.release(room.blocks()));
  }

  /** Forgets the value on all tiers of this machine; whether there was one. */
  boolean remove(byte[] key) {
    Boolean there =
        asked(
            answer -> {
              boolean found = forget(key);
              forgetLater(key, 0, () -> answer.complete(found));
            });
    return there;
  }

  /** What is on its way to another tier is held, and arrives there: it is forgotten after that. */
  private void forgetLater(byte[] key, int tries, Runnable done) {
    if (!forget(key) || tries == RETRIES_MAX) done.run();
    else loop.after(RETRY, () -> forgetLater(key, tries + 1, done));
  }

  private <T extends @Nullable Object> T asked(
      java.util.function.Consumer<CompletableFuture<T>> task) {
    var answer = new CompletableFuture<T>();
    loop.execute(() -> task.accept(answer));
    return answer.join();
  }

  private static BlockHash name(byte[] key, int part) {
    var sha = Sha256.digest();
    sha.update(key);
    sha.update(ByteBuffer.allocate(Integer.BYTES).order(LITTLE_ENDIAN).putInt(part).flip());
    return BlockHash.of(sha.digest());
  }

  private static List<BlockHash> names(byte[] key, int blocks) {
    var names = new ArrayList<BlockHash>(blocks);
    for (int i = 0; i < blocks; i++) names.add(name(key, i));
    return names;
  }

  /** The first block tells how many there are. */
  private void find(BlockHash first, byte[] key, CompletableFuture<@Nullable Held> answer) {
    cache.look(
        List.of(first),
        _ ->
            cache
                .tieredCache()
                .find(
                    List.of(first),
                    PATIENCE,
                    found -> {
                      if (found.blocks().isEmpty()) {
                        answer.complete(null);
                        return;
                      }
                      long length = length(found.blocks().getFirst());
                      if (length >= 0 && blocks(length) == 1) {
                        answer.complete(new Held(found.blocks(), length));
                        return;
                      }
                      findAll(key, length, answer);
                      host.release(found.blocks());
                    }));
  }

  private void findAll(byte[] key, long length, CompletableFuture<@Nullable Held> answer) {
    if (length < 0 || blocks(length) > host.total()) {
      answer.complete(null);
      return;
    }
    int count = blocks(length);
    cache
        .tieredCache()
        .find(
            names(key, count),
            PATIENCE,
            found -> {
              if (found.blocks().size() == count) {
                answer.complete(new Held(found.blocks(), length));
              } else {
                host.release(found.blocks());
                answer.complete(null);
              }
            });
  }

  private long length(Block.Registered first) {
    var head = cache.tiers().memory().slot(first.id()).asByteBuffer().order(LITTLE_ENDIAN);
    return head.getLong(0) == MARK ? head.getLong(Long.BYTES) : -1;
  }

  private void promise(BlockHash name, Held held) {
    int blocks = held.blocks().size();
    if (promised.containsKey(name) || promisedBlocks + blocks > host.total() / PROMISED_SHARE) {
      host.release(held.blocks());
      return;
    }
    promised.put(name, held);
    promisedBlocks += blocks;
    loop.after(PROMISE, () -> fulfil(name));
  }

  private void fulfil(BlockHash name) {
    var held = promised.remove(name);
    if (held == null) return;
    promisedBlocks -= held.blocks().size();
    host.release(held.blocks());
  }

  private void room(byte[] key, long length, int tries, CompletableFuture<@Nullable Room> answer) {
    int count = blocks(length);
    forget(key);
    var names = names(key, count);
    boolean busy = names.stream().anyMatch(cache::has);
    var empty = busy || count > host.total() / 2 ? null : host.allocate(count).orElse(null);
    if (empty != null) {
      answer.complete(new Room(empty, names, length));
    } else if (tries == RETRIES_MAX || count > host.total() / 2) {
      cache.counts().dropped++;
      answer.complete(null);
    } else {
      loop.after(RETRY, () -> room(key, length, tries + 1, answer));
    }
  }

  /** What is being moved just now is forgotten when that is done. */
  private boolean forget(byte[] key) {
    fulfil(name(key, 0));
    boolean there = false;
    for (int i = 0; ; i++) {
      var name = name(key, i);
      boolean any = false;
      for (var pool : cache.tiers().pools()) {
        if (!pool.has(name)) continue;
        any = true;
        pool.hold(name)
            .ifPresent(
                block -> {
                  block.onRelease(PoolSettings.Release.RESET);
                  block.release();
                });
      }
      if (!any) return there;
      there = true;
    }
  }
}
