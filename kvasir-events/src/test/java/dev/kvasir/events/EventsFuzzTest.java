package dev.kvasir.events;

import dev.kvasir.kv.name.Sha256Hasher;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.net.OwnProcess;
import dev.kvasir.router.Router;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.index.IndexSettings;
import dev.kvasir.router.index.KvFeed;
import dev.kvasir.router.pick.RoundRobinPick;
import dev.kvasir.router.placement.NeverOffload;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.view.Instance;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.ZContext;

/**
 * Tests that, whatever engines send where KV events are listened for, other engines are heard, in a
 * small heap. A failing seed is printed; {@code -Dkvasir.fuzz.seed=N} replays it.
 */
@Timeout(1_200)
@Tag("all")
class EventsFuzzTest {
  private static final int SCALE = Integer.getInteger("kvasir.scale", 1);
  private static final int ENGINES = 64 * SCALE;
  private static final int AT_ONCE = 8;
  private static final int MESSAGES_MAX = 40;
  private static final long SEED = 20_261_117;
  private static final String HEAP = "96m";

  /** More than the heap, for what has no end. */
  private static final long ENDLESS_BYTES = 256L << 20;

  /** Of a batch whose bytes stand for much more: some at once would fill the heap. */
  private static final int DENSE_BYTES_MAX = 5 << 20;

  private static final long GROWTH_BYTES = 16L << 20;

  @Test
  void whateverEnginesSendOthersAreHeardAndNothingOfItStays() throws Exception {
    OwnProcess.run(Fuzz.class, HEAP);
  }

  /** The process: subscribers, each with an engine of its own, and one whose engine is right. */
  static final class Fuzz {
    private final ZContext sockets = new ZContext();
    private final LiveLoop loop = new LiveLoop("router");
    private final Router router =
        new Router(
            loop,
            RouterSettings.DEFAULT.withIndex(IndexSettings.DEFAULT.withEntries(4_096)),
            new RoundRobinPick(),
            new NeverOffload(PlacementSettings.DEFAULT));
    private final int instance = router.add(Instance.of("engine"));
    private long sent;

    public static void main(String[] arguments) {
      Logger.getLogger("dev.kvasir").setLevel(Level.SEVERE);
      OwnProcess.end(new Fuzz()::run);
    }

    private void run() throws Exception {
      var random = new SplittableRandom(SEED);
      var replayed = Long.getLong("kvasir.fuzz.seed");
      if (replayed != null) {
        listen(replayed, 1);
        return;
      }
      try (var right = new FaultyEngine(sockets, random, EventEncoding.ARRAY);
          var subscriber = subscriber(right.endpoint())) {
        awaitBatch(right, subscriber);
        listen(SEED, AT_ONCE);
        long before = settledBytes();
        for (int done = AT_ONCE; done < ENGINES; done += AT_ONCE) {
          listen(SEED + done, AT_ONCE);
          awaitBatch(right, subscriber);
          // Closed sockets give back their buffers in their own time.
          Await.until(
              "the heap of seed %d falls".formatted(SEED + done),
              () -> settledBytes() - before < GROWTH_BYTES);
        }
      }
      System.out.printf("%,d engines sent %,d messages%n", ENGINES, sent);
    }

    /** Waits until events of the correct engine are received. */
    private void awaitBatch(FaultyEngine right, KvEventSubscriber subscriber)
        throws InterruptedException {
      long before = Await.on(loop, subscriber::stats).batches();
      Await.until(
          "the right engine is heard",
          () -> {
            right.calmStep();
            return Await.on(loop, subscriber::stats).batches() > before;
          });
    }

    /** Some engines of consecutive seeds at a time; all of them come to their ends. */
    private void listen(long seed, int count) throws Exception {
      var engines = new ArrayList<Engine>();
      var subscribers = new ArrayList<KvEventSubscriber>();
      for (int i = 0; i < count; i++) {
        var engine = new Engine(seed + i);
        engines.add(engine);
        subscribers.add(subscriber(engine.endpoint()));
      }
      for (var engine : engines) {
        sent += engine.end.get(60, TimeUnit.SECONDS);
      }
      for (var subscriber : subscribers) subscriber.close();
      for (var engine : engines) engine.close();
    }

    private KvEventSubscriber subscriber(String endpoint) throws IOException {
      return new KvEventSubscriber(
          loop,
          SubscriberSettings.of(endpoint, null),
          new EngineBlocks(
              (_, salt) -> new Sha256Hasher(FaultyEngine.MODEL, salt),
              FaultyEngine.BLOCK_TOKENS,
              1_000,
              KvFeed.into(router.index(), instance)));
    }

    private static long settledBytes() {
      System.gc();
      return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
  }

  /** An engine that sends what a seed says, as raw ZMTP 3.0 over TCP. */
  private static final class Engine implements AutoCloseable {
    private static final int MORE = 1;
    private static final int LONG = 2;

    private final SplittableRandom random;
    private final ServerSocket server;

    /**
     * Number of messages that it has sent, once it has sent them all, or the other side has closed
     * the connection.
     */
    private final CompletableFuture<Integer> end = new CompletableFuture<>();

    private int messages;

    Engine(long seed) throws IOException {
      this.random = new SplittableRandom(seed);
      this.server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      Thread.ofPlatform().daemon().name("engine of seed " + seed).start(() -> serve(seed));
    }

    String endpoint() {
      return "tcp://127.0.0.1:" + server.getLocalPort();
    }

    private void serve(long seed) {
      try (var socket = server.accept()) {
        socket.setSoTimeout(10_000);
        talk(socket);
        end.complete(messages);
      } catch (IOException e) {
        end.complete(messages);
      } catch (IllegalStateException e) {
        end.completeExceptionally(new AssertionError("-Dkvasir.fuzz.seed=" + seed, e));
      }
    }

    private void talk(Socket socket) throws IOException {
      var out = socket.getOutputStream();
      if (random.nextInt(10) == 0) {
        out.write(noise(200));
        return;
      }
      EndlessPublisher.shakeHands(socket);
      if (random.nextInt(5) == 0) endless(out);
      for (int i = random.nextInt(MESSAGES_MAX); i >= 0; i--) {
        out.write(message());
        messages++;
      }
    }

    private void endless(OutputStream out) throws IOException {
      var part = frame(MORE, noise(random.nextBoolean() ? 1 : 200));
      var parts = new ByteArrayOutputStream();
      while (parts.size() < 8_192) parts.writeBytes(part);
      for (long bytes = 0; bytes < ENDLESS_BYTES; bytes += parts.size()) parts.writeTo(out);
      throw new IllegalStateException("nobody has hung up on a message without end");
    }

    private byte[] message() {
      var out = new ByteArrayOutputStream();
      switch (random.nextInt(9)) {
        case 8 -> out.writeBytes(numbered(DenseFrames.batch(random, DENSE_BYTES_MAX)));
        case 0 -> {
          for (int i = random.nextInt(12); i > 0; i--) out.writeBytes(frame(MORE, noise(300)));
          out.writeBytes(frame(0, noise(3_000)));
        }
        case 1 -> out.writeBytes(head(LONG | random.nextInt(2), random.nextLong()));
        case 2 -> out.writeBytes(noise(40));
        default -> out.writeBytes(numbered(batch()));
      }
      return out.toByteArray();
    }

    private byte[] numbered(byte[] batch) {
      var out = new ByteArrayOutputStream();
      out.writeBytes(frame(MORE, noise(8)));
      var number =
          ByteBuffer.allocate(8).putLong(random.nextInt(4) == 0 ? random.nextLong() : messages);
      out.writeBytes(frame(MORE, number.array()));
      out.writeBytes(frame(0, batch));
      return out.toByteArray();
    }

    /** A batch of events, mostly right. */
    private byte[] batch() {
      var events = new ArrayList<EngineEvent>();
      for (int i = random.nextInt(4); i >= 0; i--) events.add(event());
      var bytes =
          EventEncoder.encode(
              new EngineBatch(random.nextDouble(), events, random.nextInt(3)),
              random.nextBoolean() ? EventEncoding.ARRAY : EventEncoding.MAP);
      for (int i = random.nextInt(4); i > 0; i--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      return bytes;
    }

    private EngineEvent event() {
      if (random.nextInt(8) == 0) return new EngineEvent.Cleared();
      var hashes = new ArrayList<EngineHash>();
      for (int i = random.nextInt(20); i >= 0; i--)
        hashes.add(new EngineHash.Word(random.nextLong()));
      var place = new EngineEvent.Place(random.nextBoolean() ? "GPU" : "x".repeat(500), null);
      if (random.nextInt(3) == 0) return new EngineEvent.Removed(hashes, place, null);
      return new EngineEvent.Stored(
          hashes,
          null,
          random.ints(random.nextInt(400), 0, 1 << 20).toArray(),
          random.nextBoolean() ? FaultyEngine.BLOCK_TOKENS : random.nextInt(300),
          EngineEvent.Adapter.NONE,
          place,
          List.of(),
          EngineEvent.Group.ONLY);
    }

    private byte[] noise(int bytesMax) {
      var bytes = new byte[random.nextInt(bytesMax)];
      random.nextBytes(bytes);
      return bytes;
    }

    private static byte[] frame(int flags, byte[] bytes) {
      var head =
          bytes.length > 255
              ? head(flags | LONG, bytes.length)
              : new byte[] {(byte) flags, (byte) bytes.length};
      var all = Arrays.copyOf(head, head.length + bytes.length);
      System.arraycopy(bytes, 0, all, head.length, bytes.length);
      return all;
    }

    private static byte[] head(int flags, long length) {
      return ByteBuffer.allocate(9).put((byte) flags).putLong(length).array();
    }

    @Override
    public void close() throws IOException {
      server.close();
    }
  }
}
