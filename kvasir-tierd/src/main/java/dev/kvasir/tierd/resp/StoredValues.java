package dev.kvasir.tierd.resp;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Sha256;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.tierd.cache.NamespaceCache;
import dev.kvasir.time.EventLoop;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

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
public final class StoredValues {
  /** The length of the value, and a mark. */
  public static final int HEAD_BYTES = 16;

  private static final long MARK = 0x564b5f5056534552L;
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration PROMISE = Duration.ofSeconds(30);
  private static final Duration RETRY = Duration.ofMillis(5);
  private static final int RETRIES_MAX = 200;
  private static final int ROOM_RETRIES_MAX = 600;
  private static final int PROMISED_SHARE = 4;

  /** Of host memory, for values that clients are just reading, and writing: one always may. */
  private static final int READ_SHARE = 2;

  private static final int WRITTEN_SHARE = 4;

  private final EventLoop loop;
  private final NamespaceCache cache;
  private final BlockPool host;
  private final int blockBytes;

  /** Values that somebody was told are there, and that are kept for a while. */
  private final Map<BlockHash, Held> promised = new LinkedHashMap<>();

  private int promisedBlocks;
  private int readBlocks;
  private int writtenBlocks;

  /** The number of clients that wait for memory that others hold; read by any thread. */
  private final AtomicInteger waiting = new AtomicInteger();

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

  /** Returns how many blocks a value of that length needs. */
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

  /** Returns whether somebody waits for memory that others hold. */
  boolean isCrowded() {
    return waiting.get() > 0;
  }

  /** The value, held; null if it is not there, or others read too much just now. */
  @Nullable
  Held find(byte[] key) {
    return this.<@Nullable Held>callOnLoop(answer -> read(key, 0, answer));
  }

  private void read(byte[] key, int tries, CompletableFuture<@Nullable Held> answer) {
    var found = new CompletableFuture<@Nullable Held>();
    var _ =
        found.whenComplete(
            (held, _) -> {
              int count = held == null ? 0 : held.blocks().size();
              if (held == null || hasShare(readBlocks, count, READ_SHARE)) {
                readBlocks += count;
                answered(tries);
                answer.complete(held);
                return;
              }
              host.release(held.blocks());
              again(tries, () -> read(key, tries + 1, answer), () -> answer.complete(null));
            });
    find(name(key, 0), key, found);
  }

  private boolean hasShare(int inUse, int more, int share) {
    return inUse == 0 || inUse + more <= host.total() / share;
  }

  /** Counts a caller that has waited as waiting no more. */
  private void answered(int tries) {
    if (tries > 0) waiting.decrementAndGet();
  }

  private void again(int tries, Runnable next, Runnable otherwise) {
    if (tries == ROOM_RETRIES_MAX) {
      cache.counts().dropped++;
      answered(tries);
      otherwise.run();
      return;
    }
    if (tries == 0) waiting.incrementAndGet();
    loop.after(RETRY, next);
  }

  /** Returns whether the value is there; if so it is kept until it is fetched, or for a while. */
  boolean exists(byte[] key) {
    Boolean there =
        callOnLoop(
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
          readBlocks -= held.blocks().size();
          host.release(held.blocks());
          fulfil(name(key, 0));
        });
  }

  /** Room for a value in place of what is there; null if there is none just now. */
  @Nullable
  Room room(byte[] key, long length) {
    return this.<@Nullable Room>callOnLoop(answer -> room(key, length, 0, answer));
  }

  /** The bytes are in their room. */
  void commit(Room room) {
    var first = cache.tiers().memory().slot(room.blocks().getFirst().id()).asByteBuffer();
    first.order(LITTLE_ENDIAN).putLong(0, MARK).putLong(Long.BYTES, room.length());
    loop.execute(
        () -> {
          writtenBlocks -= room.blocks().size();
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
    loop.execute(
        () -> {
          writtenBlocks -= room.blocks().size();
          host.release(room.blocks());
        });
  }

  /** Forgets the value on all tiers of this machine; whether there was one. */
  boolean remove(byte[] key) {
    Boolean there =
        callOnLoop(
            answer -> {
              boolean found = forget(key);
              forgetLater(key, 0, () -> answer.complete(found));
            });
    return there;
  }

  /**
   * Tries to forget the value until none of it is left: what is on its way to another tier is held,
   * and can be forgotten once it has arrived there.
   */
  private void forgetLater(byte[] key, int tries, Runnable done) {
    if (!forget(key) || tries == RETRIES_MAX) done.run();
    else loop.after(RETRY, () -> forgetLater(key, tries + 1, done));
  }

  private <T extends @Nullable Object> T callOnLoop(
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
    if (count > host.total() / 2) {
      cache.counts().dropped++;
      answer.complete(null);
      return;
    }
    boolean mayWrite = !busy && hasShare(writtenBlocks, count, WRITTEN_SHARE);
    var empty = mayWrite ? host.allocate(count).orElse(null) : null;
    if (empty == null) {
      again(tries, () -> room(key, length, tries + 1, answer), () -> answer.complete(null));
      return;
    }
    writtenBlocks += count;
    answered(tries);
    answer.complete(new Room(empty, names, length));
  }

  /** Forgets the value; a block that is being moved is forgotten once the move is done. */
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
