package dev.kvasir.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Seeds;
import dev.kvasir.events.zmtp.ZmtpTimes;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Sha256Hasher;
import dev.kvasir.kv.name.TokenSequence;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.router.Router;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.index.KvFeed;
import dev.kvasir.router.pick.RoundRobinPick;
import dev.kvasir.router.placement.NeverOffload;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.view.Instance;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/** A router that listens believes what is true, whatever happens on the way. */
@Timeout(300)
class KvEventSubscriberTest {
  private static final int BLOCK_TOKENS = FaultyEngine.BLOCK_TOKENS;

  private final ZContext sockets = new ZContext();
  private final LiveLoop loop = new LiveLoop("router");

  @AfterEach
  void close() {
    loop.close();
    sockets.close();
  }

  /** A router of one instance that hears of its blocks. */
  private final class Listener implements AutoCloseable {
    private final Router router =
        new Router(
            loop,
            RouterSettings.DEFAULT,
            new RoundRobinPick(),
            new NeverOffload(PlacementSettings.DEFAULT));
    private final int instance = router.add(Instance.of("engine"));
    private final EngineBlocks blocks =
        new EngineBlocks(
            (_, salt) -> new Sha256Hasher(FaultyEngine.MODEL, salt),
            BLOCK_TOKENS,
            10_000,
            KvFeed.into(router.index(), instance));
    private final KvEventSubscriber subscriber;

    Listener(SubscriberSettings settings) throws IOException {
      this(settings, ZmtpTimes.DEFAULT);
    }

    Listener(SubscriberSettings settings, ZmtpTimes times) throws IOException {
      subscriber = new KvEventSubscriber(loop, settings, blocks, times);
    }

    SubscriberStats stats() {
      return Await.on(loop, subscriber::stats);
    }

    boolean believes(Set<BlockHash> truth) {
      return Await.on(
          loop,
          () -> {
            for (var hash : truth) {
              if (!router.index().holds(instance, Tier.DEVICE, hash)) return false;
            }
            return router.index().held(instance, Tier.DEVICE) == truth.size();
          });
    }

    @Override
    public void close() {
      subscriber.close();
    }
  }

  @Test
  void indexHealsAfterDropDuplicateReorderAndRestart() {
    var seen = new ArrayList<SubscriberStats>();
    Seeds.each(10 * Seeds.scale(), random -> seen.add(heal(random)));
    if (Seeds.isReplay()) return;
    assertThat(seen).anyMatch(stats -> stats.duplicates() > 0);
    assertThat(seen).anyMatch(stats -> stats.restarts() > 0);
    assertThat(seen).anyMatch(stats -> stats.requests() > 1);
    assertThat(seen).anyMatch(stats -> stats.malformed() > 0);
  }

  private SubscriberStats heal(RandomGenerator random) {
    var encoding = random.nextBoolean() ? EventEncoding.ARRAY : EventEncoding.MAP;
    try (var engine = new FaultyEngine(sockets, random, encoding)) {
      for (int i = random.nextInt(50); i > 0; i--) engine.faultyStep();
      var settings = SubscriberSettings.of(engine.endpoint(), engine.replayEndpoint());
      try (var listener = new Listener(settings)) {
        for (int life = 1 + random.nextInt(3); life > 0; life--) {
          for (int i = 0; i < 200; i++) {
            engine.faultyStep();
            if (random.nextInt(20) == 0) engine.babble();
            engine.answer();
            if (random.nextInt(10) == 0) Thread.sleep(1);
          }
          if (life > 1) engine.restart();
        }
        Await.until(
            "the index holds what the engine holds",
            () -> {
              engine.calmStep();
              engine.answer();
              return listener.believes(engine.truth());
            });
        return listener.stats();
      }
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void blocksOfOurOwnEngineAreHeardOf() throws Exception {
    try (var engine = new LiveLoop("engine");
        var publisher =
            new KvEventPublisher(
                sockets, PublisherSettings.loopback("kv"), InstantSource.system())) {
      var events = new KvEvents();
      var pool =
          new BlockPool(
              PoolSettings.of(Tier.DEVICE, 8, BLOCK_TOKENS), new PrefixRegistry(), events);
      var forwarder =
          Await.on(
              engine,
              () ->
                  new KvEventForwarder(
                      engine, events, 100, EngineHash.Form.WORD, publisher::publish));
      var settings = SubscriberSettings.of(publisher.endpoint(), publisher.replayEndpoint());
      try (var listener = new Listener(settings)) {
        var first = sequence(0, 5);
        Await.on(engine, () -> store(pool, first));
        Await.until("five blocks", () -> listener.believes(Set.copyOf(first.hashes())));
        var second = sequence(1, 6);
        Await.on(engine, () -> store(pool, second));
        var kept =
            Await.on(
                engine,
                () -> {
                  var all = new ArrayList<BlockHash>(first.hashes());
                  all.addAll(second.hashes());
                  all.removeIf(hash -> !pool.has(hash));
                  return all;
                });
        assertThat(kept).hasSize(8);
        Await.until("what fits", () -> listener.believes(Set.copyOf(kept)));
        assertThat(listener.blocks.unplaced()).isZero();
      }
      engine.execute(forwarder::close);
    }
  }

  private static int store(BlockPool pool, TokenSequence sequence) {
    for (int i = 0; i < sequence.fullBlocks(); i++) {
      var block = pool.allocate(1).orElseThrow().getFirst();
      block.receive(sequence.block(i)).release();
    }
    return pool.cached();
  }

  private static TokenSequence sequence(int prompt, int blocks) {
    var sequence = new TokenSequence(new Sha256Hasher(FaultyEngine.MODEL, ""), BLOCK_TOKENS);
    for (int i = 0; i < blocks * BLOCK_TOKENS; i++) sequence.append(prompt * 100 + i);
    return sequence;
  }

  @Test
  void engineThatComesBackElsewhereInItsNumbersIsHeardAnew() throws Exception {
    var first =
        new KvEventPublisher(sockets, PublisherSettings.loopback(""), InstantSource.system());
    var again = PublisherSettings.of(first.endpoint(), first.replayEndpoint(), "");
    var settings = SubscriberSettings.of(again.endpoint(), again.replayEndpoint());
    try (var listener = new Listener(settings)) {
      var old = sequence(0, 2);
      first.publish(List.of(stored(old)));
      Await.until("the first life", () -> listener.believes(Set.copyOf(old.hashes())));
      first.close();
      try (var second = reopened(again)) {
        var fresh = sequence(1, 3);
        second.publish(List.of());
        second.publish(List.of(stored(fresh)));
        Await.until("the second life", () -> listener.believes(Set.copyOf(fresh.hashes())));
        assertThat(listener.stats().restarts()).isEqualTo(1);
      }
    }
  }

  @Test
  void anEngineThatComesBackAndHasToldNothingHoldsNothing() throws Exception {
    var first =
        new KvEventPublisher(sockets, PublisherSettings.loopback(""), InstantSource.system());
    var again = PublisherSettings.of(first.endpoint(), first.replayEndpoint(), "");
    var settings = SubscriberSettings.of(again.endpoint(), again.replayEndpoint());
    try (var listener = new Listener(settings)) {
      var old = sequence(0, 2);
      first.publish(List.of(stored(old)));
      Await.until("the first life", () -> listener.believes(Set.copyOf(old.hashes())));
      first.close();
      try (var _ = reopened(again)) {
        Await.until("the second life", () -> listener.believes(Set.of()));
        assertThat(listener.stats().restarts()).isEqualTo(1);
      }
    }
  }

  @Test
  void anEngineThatDoesNotRepeatIsForgottenWhenItsConnectionBreaks() throws Exception {
    var first =
        new KvEventPublisher(sockets, PublisherSettings.loopback(""), InstantSource.system());
    var again = PublisherSettings.of(first.endpoint(), first.replayEndpoint(), "");
    try (var listener = new Listener(SubscriberSettings.of(again.endpoint(), null))) {
      var old = sequence(0, 2);
      Await.until(
          "the first life",
          () -> {
            first.publish(List.of(stored(old)));
            return listener.believes(Set.copyOf(old.hashes()));
          });
      first.close();
      try (var second = reopened(again)) {
        Await.until("nothing", () -> listener.believes(Set.of()));
        var fresh = sequence(1, 3);
        Await.until(
            "the second life",
            () -> {
              second.publish(List.of(stored(fresh)));
              return listener.believes(Set.copyOf(fresh.hashes()));
            });
      }
    }
  }

  @Test
  void anEngineThatSendsAMessageWithoutEndIsDisconnected() throws Exception {
    for (int frameBytes : new int[] {0, 200}) {
      try (var engine = new EndlessPublisher(frameBytes, 256 << 20);
          var listener = new Listener(SubscriberSettings.of(engine.endpoint(), null))) {
        assertThat(engine.broken().get(60, TimeUnit.SECONDS)).isLessThan(256 << 20);
        assertThat(listener.stats().excesses()).isEqualTo(1);
      }
    }
  }

  @Test
  void aFrameWhoseLengthIsNegativeTakesNoMemory() throws Exception {
    var longFrame = ByteBuffer.allocate(9).put((byte) 2).putLong(Long.MIN_VALUE | 0x7fff_ffff);
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var listener =
            new Listener(SubscriberSettings.of("tcp://127.0.0.1:" + server.getLocalPort(), null));
        var socket = server.accept()) {
      EndlessPublisher.shakeHands(socket);
      socket.getOutputStream().write(longFrame.array());
      Await.until("it is hung up on", () -> listener.stats().excesses() == 1);
    }
  }

  @Test
  void anEngineThatSentTooMuchIsHeardAgainAfterAWhile() throws Exception {
    var rest = Duration.ofMillis(400);
    var times = resting(rest);
    var tooMany = new byte[200];
    for (int i = 0; i < tooMany.length; i += 2) tooMany[i] = 1;
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var replays = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var listener =
            new Listener(
                SubscriberSettings.of(
                    "tcp://127.0.0.1:" + server.getLocalPort(),
                    "tcp://127.0.0.1:" + replays.getLocalPort()),
                times);
        var replaySocket = replays.accept()) {
      long start;
      try (var socket = server.accept()) {
        EndlessPublisher.shakeHands(socket);
        start = System.nanoTime();
        socket.getOutputStream().write(tooMany);
        // What it repeats is not listened to either.
        while (replaySocket.getInputStream().read() >= 0) {}
      }
      try (var again = server.accept()) {
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(rest.toNanos());
        EndlessPublisher.shakeHands(again);
        Await.until("it is connected again", () -> listener.stats().connects() == 2);
        assertThat(listener.stats().excesses()).isEqualTo(1);
      }
    }
  }

  private static ZmtpTimes resting(Duration rest) {
    var usual = ZmtpTimes.DEFAULT;
    return new ZmtpTimes(
        usual.connect(),
        usual.handshake(),
        usual.ping(),
        usual.answer(),
        Duration.ofMillis(1),
        Duration.ofMillis(1),
        rest);
  }

  @Test
  void anEngineWhoseBatchBecomesTooMuchIsLeftAloneForAWhile() throws Exception {
    var batch = DenseFrames.batch(DenseFrames.Of.HASHES, 2 << 20);
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var listener =
            new Listener(
                SubscriberSettings.of("tcp://127.0.0.1:" + server.getLocalPort(), null),
                resting(Duration.ofDays(1)));
        var socket = server.accept()) {
      socket.setSoTimeout(30_000);
      EndlessPublisher.shakeHands(socket);
      var out = socket.getOutputStream();
      out.write(new byte[] {1, 0, 1, 8, 0, 0, 0, 0, 0, 0, 0, 0});
      out.write(ByteBuffer.allocate(9).put((byte) 2).putLong(batch.length).array());
      out.write(batch);
      while (socket.getInputStream().read() >= 0) {}
      Await.until("it is counted", () -> listener.stats().excesses() == 1);
      assertThat(listener.stats().malformed()).isEqualTo(1);
      assertThat(listener.stats().batches()).isZero();
      assertThat(listener.stats().connects()).isEqualTo(1);
    }
  }

  /** A batch that waits for an earlier one is still in memory. */
  @Test
  void whatIsHeldOfABatchIsGivenBackWhenItsEventsAreInTheIndex() throws Exception {
    var room = new EventRoom(1 << 20);
    try (var publisher =
            new KvEventPublisher(sockets, PublisherSettings.loopback(""), InstantSource.system());
        var listener = new Listener(SubscriberSettings.of(publisher.endpoint(), null, room))) {
      var removed =
          new EngineEvent.Removed(
              List.of(new EngineHash.Word(1)), new EngineEvent.Place(null, null), null);
      Await.until(
          "it is heard",
          () -> {
            publisher.publish(List.of(removed));
            return listener.stats().batches() > 100;
          });
      Await.until("all is given back", () -> room.reserved() == 0);
    }
  }

  @Test
  void whoAcceptsAndSaysNothingDoesNotKeepTheEngineOut() throws Exception {
    var first =
        new KvEventPublisher(sockets, PublisherSettings.loopback(""), InstantSource.system());
    var again = PublisherSettings.of(first.endpoint(), first.replayEndpoint(), "");
    first.close();
    int port = Integer.parseInt(again.endpoint().replaceFirst(".*:", ""));
    var mute = mute(port);
    try (var listener =
            new Listener(SubscriberSettings.of(again.endpoint(), again.replayEndpoint()));
        var _ = mute.accept()) {
      mute.close();
      try (var publisher = reopened(again)) {
        var blocks = sequence(0, 2);
        publisher.publish(List.of(stored(blocks)));
        Await.until("the engine", () -> listener.believes(Set.copyOf(blocks.hashes())));
        assertThat(listener.stats().connects()).isEqualTo(1);
      }
    }
  }

  private static ServerSocket mute(int port) throws Exception {
    var opened = new ArrayList<ServerSocket>();
    Await.until(
        "the port is free again",
        () -> {
          try {
            return opened.add(new ServerSocket(port, 1, InetAddress.getLoopbackAddress()));
          } catch (IOException e) {
            return false;
          }
        });
    return opened.getFirst();
  }

  @Test
  void aRequestThatIsNotAnsweredIsMadeAnewWhereverItWasLost() throws Exception {
    try (var live = sockets.createSocket(SocketType.PUB)) {
      live.bind(PublisherSettings.LOOPBACK);
      var first = sockets.createSocket(SocketType.ROUTER);
      first.bind(PublisherSettings.LOOPBACK);
      var replay = first.getLastEndpoint();
      try (var listener = new Listener(SubscriberSettings.of(live.getLastEndpoint(), replay))) {
        assertThat(WireFrames.requestedSequence(received(first))).isZero();
        first.close();
        try (var second = sockets.createSocket(SocketType.ROUTER)) {
          Await.until("the port is free again", () -> isBound(second, replay));
          assertThat(WireFrames.requestedSequence(received(second))).isZero();
          assertThat(listener.stats().requests()).isEqualTo(1);
        }
      }
    }
  }

  private static boolean isBound(ZMQ.Socket socket, String endpoint) {
    try {
      return socket.bind(endpoint);
    } catch (ZMQException e) {
      return false;
    }
  }

  private static List<byte[]> received(ZMQ.Socket socket) throws InterruptedException {
    var frames = new ArrayList<byte[]>();
    Await.until("a request", () -> frames.addAll(WireFrames.of(socket)));
    return frames;
  }

  @Test
  void nothingIsReadWhileTheLoopIsBehind() throws Exception {
    int messages = 5_000;
    var usual = SubscriberSettings.of("tcp://127.0.0.1:*", null);
    var settings =
        new SubscriberSettings(
            usual.endpoint(), null, "", usual.limits(), usual.order(), 4, usual.room());
    var free = new CountDownLatch(1);
    loop.execute(() -> await(free));
    try (var listener = new Listener(settings);
        var engine = new Socket(InetAddress.getLoopbackAddress(), listener.subscriber.port())) {
      EndlessPublisher.shakeHands(engine);
      var writer =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      for (int i = 0; i < messages; i++)
                        engine.getOutputStream().write(new byte[2]);
                    } catch (IOException e) {
                      throw new AssertionError(e);
                    }
                  });
      // And one that says that the engine is there.
      Await.until("the loop is behind", () -> loop.pending() == 5);
      assertThat(writer.join(Duration.ofSeconds(30))).isTrue();
      assertThat(loop.pending()).isEqualTo(5);
      free.countDown();
      Await.until("all is read", () -> listener.stats().malformed() == messages);
    } finally {
      free.countDown();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void framesOfAnotherTopicAreNone() {
    var frames = List.of("kv@model".getBytes(UTF_8), WireFrames.number(7), WireFrames.EMPTY);
    assertThat(WireFrames.live(frames, "kv@".getBytes(UTF_8))).isNotNull();
    assertThat(WireFrames.live(frames, "kv@model2".getBytes(UTF_8))).isNull();
    assertThat(WireFrames.live(frames, "other".getBytes(UTF_8))).isNull();
  }

  /** The ports of a socket are free some time after it was closed. */
  private KvEventPublisher reopened(PublisherSettings settings) throws Exception {
    var opened = new ArrayList<KvEventPublisher>();
    Await.until(
        "the ports are free again",
        () -> {
          try {
            return opened.add(new KvEventPublisher(sockets, settings, InstantSource.system()));
          } catch (IOException e) {
            return false;
          }
        });
    return opened.getFirst();
  }

  private static EngineEvent stored(TokenSequence sequence) {
    return new EngineEvent.Stored(
        sequence.hashes().stream().map(EngineHash.Form.DIGEST::of).toList(),
        null,
        sequence.tokens(0, sequence.length()),
        BLOCK_TOKENS,
        EngineEvent.Adapter.NONE,
        new EngineEvent.Place(null, null),
        List.of(),
        EngineEvent.Group.ONLY);
  }

  @Test
  void endpointThatIsNoneIsNamed() {
    assertThatThrownBy(() -> new Listener(SubscriberSettings.of("tcp://nowhere", null)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("tcp://nowhere");
    assertThatThrownBy(() -> new Listener(SubscriberSettings.of("tcp://here:1", "tcp://*:5558")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("tcp://*:5558");
  }
}
