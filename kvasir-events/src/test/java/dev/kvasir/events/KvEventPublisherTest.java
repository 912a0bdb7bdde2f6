package dev.kvasir.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** Any subscriber that speaks vLLM's protocol understands the publisher. */
@Timeout(180)
class KvEventPublisherTest {
  private static final EngineEvent.Place GPU = new EngineEvent.Place("GPU", null);

  private final ZContext sockets = new ZContext();

  @AfterEach
  void close() {
    sockets.close();
  }

  private KvEventPublisher publisher(PublisherSettings settings) throws IOException {
    return new KvEventPublisher(sockets, settings, InstantSource.system());
  }

  @Test
  void subscriberReceivesTopicNumberAndBatch() throws Exception {
    try (var publisher = publisher(PublisherSettings.loopback("kv@here@model"));
        var subscriber = sockets.createSocket(SocketType.SUB)) {
      subscriber.connect(publisher.endpoint());
      subscriber.subscribe("kv@");
      var frames = new ArrayList<byte[]>();
      subscriber.setReceiveTimeOut(50);
      for (long sent = 1; frames.isEmpty(); sent++) {
        publisher.publish(List.of(removed(sent)));
        frames.addAll(WireFrames.of(subscriber));
        Thread.sleep(5);
      }
      assertThat(frames).hasSize(3);
      assertThat(new String(frames.getFirst(), UTF_8)).isEqualTo("kv@here@model");
      long sequence = ByteBuffer.wrap(frames.get(1)).getLong();
      assertThat(events(frames.get(2))).containsExactly(removed(sequence + 1));
    }
  }

  @Test
  void whatWasMissedIsRepeatedToItsEnd() throws Exception {
    try (var publisher = publisher(PublisherSettings.loopback(""))) {
      for (int i = 0; i < 5; i++) publisher.publish(List.of(removed(i)));
      Await.until("all sent", () -> publisher.published() == 5);
      var replies = replay(publisher, 2);
      assertThat(replies).extracting(WireFrames.Numbered::sequence).containsExactly(2L, 3L, 4L);
      assertThat(events(replies.getFirst().payload())).containsExactly(removed(2));
      assertThat(replay(publisher, 99)).isEmpty();
      assertThat(publisher.replays()).isEqualTo(2);
    }
  }

  @Test
  void onlyTheLastBatchesAreKept() throws Exception {
    var usual = PublisherSettings.loopback("");
    var settings =
        new PublisherSettings(
            usual.endpoint(), usual.replayEndpoint(), "", EventEncoding.ARRAY, 100, 100, 3, 1_000);
    try (var publisher = publisher(settings)) {
      for (int i = 0; i < 10; i++) publisher.publish(List.of(removed(i)));
      Await.until("all sent", () -> publisher.published() == 10);
      assertThat(replay(publisher, 0))
          .extracting(WireFrames.Numbered::sequence)
          .containsExactly(7L, 8L, 9L);
    }
  }

  @Test
  void requestThatIsNoneIsNotAnswered() throws Exception {
    try (var publisher = publisher(PublisherSettings.loopback(""));
        var dealer = sockets.createSocket(SocketType.DEALER)) {
      dealer.connect(publisher.replayEndpoint());
      dealer.send("what?");
      dealer.sendMore("");
      dealer.send("seven");
      dealer.sendMore("");
      dealer.send(WireFrames.number(0));
      assertThat(WireFrames.replayed(received(dealer))).matches(WireFrames.Numbered::isEnd);
      assertThat(publisher.replays()).isEqualTo(1);
    }
  }

  @Test
  void whatFoundTheQueueFullIsToldAsAClearing() throws Exception {
    var usual = PublisherSettings.loopback("");
    var settings =
        new PublisherSettings(
            usual.endpoint(),
            usual.replayEndpoint(),
            "",
            EventEncoding.MAP,
            1,
            1,
            100_000,
            1 << 28);
    try (var publisher = publisher(settings)) {
      int offered = 0;
      for (; publisher.dropped() == 0 || offered < 100; offered++) {
        publisher.publish(List.of(removed(offered)));
      }
      long sum = offered;
      Await.until("all sent", () -> publisher.published() + publisher.dropped() == sum);
      publisher.publish(List.of(removed(offered)));
      Await.until("the last", () -> publisher.published() + publisher.dropped() == sum + 1);
      long before = -1;
      for (var reply : replay(publisher, 0)) {
        var events = events(reply.payload());
        long bits =
            ((EngineHash.Word) ((EngineEvent.Removed) events.getLast()).hashes().getFirst()).bits();
        boolean missed = bits != before + 1;
        assertThat(events.getFirst() instanceof EngineEvent.Cleared).isEqualTo(missed);
        before = bits;
      }
      assertThat(before).isEqualTo(offered);
    }
  }

  @Test
  void endpointThatIsTakenIsNamed() throws Exception {
    try (var publisher = publisher(PublisherSettings.loopback(""))) {
      var occupied = PublisherSettings.of(publisher.endpoint(), PublisherSettings.LOOPBACK, "");
      assertThatThrownBy(() -> publisher(occupied))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(publisher.endpoint());
    }
  }

  private List<WireFrames.Numbered> replay(KvEventPublisher publisher, long from) {
    try (var dealer = sockets.createSocket(SocketType.DEALER)) {
      dealer.setRcvHWM(0);
      dealer.connect(publisher.replayEndpoint());
      dealer.sendMore(WireFrames.EMPTY);
      dealer.send(WireFrames.number(from));
      var replies = new ArrayList<WireFrames.Numbered>();
      for (; ; ) {
        var reply = WireFrames.replayed(received(dealer));
        if (reply == null) throw new AssertionError("not a reply");
        if (reply.isEnd()) return replies;
        replies.add(reply);
      }
    }
  }

  private static List<byte[]> received(ZMQ.Socket socket) {
    var frames = new ArrayList<byte[]>();
    do frames.add(socket.recv());
    while (socket.hasReceiveMore());
    return frames;
  }

  private static EngineEvent removed(long bits) {
    return new EngineEvent.Removed(List.of(new EngineHash.Word(bits)), GPU, null);
  }

  private static List<EngineEvent> events(byte[] payload) {
    var outcome = new EventDecoder(EventLimits.DEFAULT).decode(payload);
    return ((EventDecoder.Outcome.Decoded) outcome).batch().events();
  }
}
