package dev.kvasir.events.zmtp;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that, whatever a peer does, the next one is heard. */
@Timeout(180)
class ZmtpSocketTest {
  private static final int FRAME_BYTES_MAX = 1_000;
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration SHORT = Duration.ofMillis(100);
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration RETRY = Duration.ofMillis(10);

  private static final ZmtpTimes SHORT_HANDSHAKE =
      new ZmtpTimes(LONG, SECOND, LONG, LONG, RETRY, RETRY, Duration.ZERO);
  private static final ZmtpTimes SHORT_PING =
      new ZmtpTimes(LONG, LONG, SHORT, SECOND, RETRY, RETRY, Duration.ZERO);

  /** With time for all that a test does. */
  private static final ZmtpTimes PATIENT =
      new ZmtpTimes(LONG, LONG, LONG, LONG, RETRY, RETRY, Duration.ZERO);

  private final ServerSocket server;
  private final List<AutoCloseable> opened = new ArrayList<>();
  private final Received received = new Received();

  ZmtpSocketTest() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    server.setSoTimeout(30_000);
  }

  @AfterEach
  void close() throws Exception {
    for (var each : opened.reversed()) each.close();
    server.close();
  }

  /** Subscribes to everything, and keeps what comes. */
  private static final class Received implements ZmtpSocket.Receiver {
    private final LinkedBlockingQueue<String> messages = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<String> excesses = new LinkedBlockingQueue<>();
    private final Semaphore room = new Semaphore(1_000_000);

    @Override
    public void connected(ZmtpConnection connection) {
      connection.send(new byte[] {1, 'k', 'v'});
    }

    @Override
    public void awaitRoom() {
      room.acquireUninterruptibly();
    }

    @Override
    public void received(List<byte[]> parts) {
      messages.add(
          String.join(",", parts.stream().map(part -> new String(part, US_ASCII)).toList()));
    }

    @Override
    public void exceeded(String what) {
      excesses.add(what);
    }

    String next() throws InterruptedException {
      return String.valueOf(messages.poll(30, TimeUnit.SECONDS));
    }
  }

  private ZmtpSocket socket(String address, ZmtpRole role, ZmtpTimes times) throws IOException {
    var socket = new ZmtpSocket("test", address, role, times, FRAME_BYTES_MAX, received);
    opened.add(socket);
    socket.start();
    return socket;
  }

  private void subscribe(ZmtpTimes times) throws IOException {
    socket("tcp://127.0.0.1:" + server.getLocalPort(), ZmtpRole.SUB, times);
  }

  private RawPeer accept() throws IOException {
    var peer = new RawPeer(server.accept());
    opened.add(peer);
    return peer;
  }

  /** A publisher as it should be, in as many attempts as a slow machine needs. */
  private void acceptRight() throws Exception {
    for (int i = 0; i < 100; i++) {
      try {
        accept().shakeHands(0, "PUB").send(RawPeer.frame(0, "right"));
        assertThat(received.next()).isEqualTo("right");
        return;
      } catch (SocketException | EOFException e) {
        // The handshake took too long.
      }
    }
    throw new AssertionError("a right publisher is not heard");
  }

  @Test
  void aSubscriberSaysWhatItIsAndWhatItWants() throws Exception {
    subscribe(PATIENT);
    var peer = accept();
    assertThat(peer.receiveGreeting()).isEqualTo(RawPeer.greeting(0, "NULL"));
    peer.send(RawPeer.greeting(1, "NULL"));
    assertThat(peer.receive().text()).isEqualTo("\5READY\13Socket-Type\0\0\0\3SUB");
    peer.send(RawPeer.ready("XPUB"));
    var subscription = peer.receive();
    assertThat(subscription.flags()).isZero();
    assertThat(subscription.text()).isEqualTo("\1kv");
    peer.send(RawPeer.frame(FrameReader.MORE, "topic")).send(RawPeer.frame(0, "batch"));
    assertThat(received.next()).isEqualTo("topic,batch");
  }

  @Test
  void aDealerIsUnderstoodByARouterOnly() throws Exception {
    socket("tcp://127.0.0.1:" + server.getLocalPort(), ZmtpRole.DEALER, PATIENT);
    var other = accept();
    other.send(RawPeer.greeting(0, "NULL")).receiveGreeting();
    assertThat(other.receive().text())
        .isEqualTo("\5READY\13Socket-Type\0\0\0\6DEALER\10Identity\0\0\0\0");
    other.send(RawPeer.ready("DEALER")).awaitEnd();
    accept().shakeHands(0, "ROUTER").send(RawPeer.frame(0, "answer"));
    assertThat(received.next()).isEqualTo("answer");
  }

  @Test
  void aPeerThatSaysNothingIsHungUpOnInTime() throws Exception {
    subscribe(SHORT_HANDSHAKE);
    accept().awaitEnd();
    var half = accept();
    half.send(RawPeer.greeting(0, "NULL"));
    half.awaitEnd();
    acceptRight();
  }

  @Test
  void bytesOneByOneDoNotProlongTheHandshake() throws Exception {
    subscribe(SHORT_HANDSHAKE);
    var slow = accept();
    assertThatThrownBy(
            () -> {
              slow.dribble(RawPeer.greeting(0, "NULL"), 30);
              slow.dribble(RawPeer.ready("PUB"), 30);
              slow.dribble(RawPeer.frame(0, "never"), 30);
            })
        .isInstanceOf(SocketException.class);
    acceptRight();
    assertThat(received.messages).isEmpty();
  }

  @Test
  void messagesMayComeByteByByte() throws Exception {
    subscribe(PATIENT);
    var peer = accept();
    peer.dribble(RawPeer.greeting(0, "NULL"), 1).dribble(RawPeer.ready("PUB"), 1);
    peer.dribble(RawPeer.frame(FrameReader.MORE, "topic"), 1);
    var longFrame = ByteBuffer.allocate(9 + 300).put((byte) FrameReader.LONG).putLong(300);
    peer.dribble(longFrame.put("x".repeat(300).getBytes(US_ASCII)).array(), 0);
    assertThat(received.next()).isEqualTo("topic," + "x".repeat(300));
  }

  @Test
  void aPingIsAnsweredWithItsOwnWordsAlsoAmidAMessage() throws Exception {
    subscribe(PATIENT);
    var peer = accept().shakeHands(0, "PUB");
    assertThat(peer.receive().text()).isEqualTo("\1kv");
    peer.send(RawPeer.frame(FrameReader.MORE, "topic"));
    peer.send(RawPeer.frame(FrameReader.COMMAND, "\4PING\0\0words"));
    peer.send(RawPeer.frame(FrameReader.COMMAND, "\5OTHERthing"));
    peer.send(RawPeer.frame(0, "batch"));
    var answer = peer.receive();
    assertThat(answer.flags()).isEqualTo(FrameReader.COMMAND);
    assertThat(answer.text()).isEqualTo("\4PONGwords");
    assertThat(received.next()).isEqualTo("topic,batch");
  }

  @Test
  void aSilentPeerIsAskedAndThenHungUpOn() throws Exception {
    subscribe(SHORT_PING);
    var peer = accept().shakeHands(1, "PUB");
    assertThat(peer.receive().text()).isEqualTo("\1kv");
    for (int i = 0; i < 8; i++) {
      assertThat(peer.receive().text()).isEqualTo("\4PING\0\0");
      peer.send(RawPeer.frame(FrameReader.COMMAND, "\4PONG"));
    }
    peer.awaitEnd();
    acceptRight();
  }

  @Test
  void aPeerThatDoesNotKnowPingIsNotAsked() throws Exception {
    subscribe(SHORT_PING);
    var peer = accept().shakeHands(0, "PUB");
    assertThat(peer.receive().text()).isEqualTo("\1kv");
    Thread.sleep(6 * SHORT_PING.ping().toMillis());
    peer.send(RawPeer.frame(FrameReader.COMMAND, "\4PING\0\0"));
    assertThat(peer.receive().text()).isEqualTo("\4PONG");
    peer.send(RawPeer.frame(0, "there"));
    assertThat(received.next()).isEqualTo("there");
  }

  @Test
  void aPeerThatDoesNotReadItsPongsIsHungUpOn() throws Exception {
    subscribe(PATIENT);
    var peer = accept().shakeHands(0, "PUB");
    var pings = new ByteArrayOutputStream();
    while (pings.size() < 1 << 16) {
      pings.writeBytes(RawPeer.frame(FrameReader.COMMAND, "\4PING\0\0" + "x".repeat(16)));
    }
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 1 << 9; i++) peer.send(pings.toByteArray());
            })
        .isInstanceOf(SocketException.class);
    acceptRight();
  }

  @Test
  void whatIsNoZmtpIsHungUpOnAndTheNextIsHeard() throws Exception {
    subscribe(PATIENT);
    var wrong =
        List.of(
            "HTTP/1.1 400 Bad Request\r\n\r\n".repeat(4).getBytes(US_ASCII),
            RawPeer.greeting(0, "PLAIN"),
            join(RawPeer.greeting(0, "NULL"), RawPeer.ready("SUB")),
            join(RawPeer.greeting(0, "NULL"), RawPeer.frame(0, "early")),
            join(RawPeer.greeting(0, "NULL"), RawPeer.frame(4, "\5READY\13Sock")),
            join(RawPeer.greeting(0, "NULL"), RawPeer.frame(4, "\5ERROR\4gone")),
            join(RawPeer.greeting(0, "NULL"), RawPeer.ready("PUB"), RawPeer.frame(8, "flag")),
            join(RawPeer.greeting(0, "NULL"), RawPeer.ready("PUB"), RawPeer.frame(5, "both")),
            join(RawPeer.greeting(0, "NULL"), RawPeer.ready("PUB"), RawPeer.frame(4, "")),
            join(RawPeer.greeting(0, "NULL"), RawPeer.ready("PUB"), RawPeer.frame(4, "\5ERROR")));
    for (var bytes : wrong) {
      var peer = accept();
      peer.send(bytes);
      peer.awaitEnd();
    }
    acceptRight();
    assertThat(received.excesses).isEmpty();
  }

  @Test
  void whatIsTooMuchIsNamedAndThePeerIsHeardAgainLater() throws Exception {
    subscribe(PATIENT);
    var more = new ByteArrayOutputStream();
    for (int i = 0; i <= FrameReader.PARTS_MAX; i++) more.writeBytes(RawPeer.frame(1, ""));
    exceed(more.toByteArray(), "a message of more than 64 parts");
    exceed(longHead(0, FRAME_BYTES_MAX + 1), "a frame of more than 1000 bytes");
    exceed(longHead(0, Long.MIN_VALUE | 5), "a frame of more than 1000 bytes");
    exceed(longHead(4, 1 << 20), "a command of more than 65536 bytes");
    var big = new ByteArrayOutputStream();
    for (int i = 0; i < 9; i++) big.writeBytes(RawPeer.frame(1, new byte[250]));
    exceed(big.toByteArray(), "a message of more than 2000 bytes");
    acceptRight();
  }

  private void exceed(byte[] bytes, String what) throws Exception {
    var peer = accept().shakeHands(0, "PUB");
    peer.send(bytes);
    assertThat(received.excesses.poll(30, TimeUnit.SECONDS)).isEqualTo(what);
    peer.awaitEnd();
  }

  private static byte[] longHead(int flags, long length) {
    return ByteBuffer.allocate(9).put((byte) (FrameReader.LONG | flags)).putLong(length).array();
  }

  private static byte[] join(byte[]... parts) {
    var out = new ByteArrayOutputStream();
    for (var part : parts) out.writeBytes(part);
    return out.toByteArray();
  }

  @Test
  void nothingIsReadWhereThereIsNoRoom() throws Exception {
    received.room.drainPermits();
    subscribe(PATIENT);
    var peer = accept().shakeHands(0, "PUB");
    for (int i = 0; i < 20; i++) peer.send(RawPeer.frame(0, "m" + i));
    received.room.release(3);
    for (int i = 0; i < 3; i++) assertThat(received.next()).isEqualTo("m" + i);
    assertThat(received.messages.poll(50, TimeUnit.MILLISECONDS)).isNull();
    received.room.release(1_000);
    for (int i = 3; i < 20; i++) assertThat(received.next()).isEqualTo("m" + i);
  }

  @Test
  void aPeerThatConnectsAThousandTimesDoesNotKeepOthersOut() throws Exception {
    var socket = socket("tcp://127.0.0.1:*", ZmtpRole.SUB, SHORT_HANDSHAKE);
    for (int i = 0; i < 1_000; i++) {
      var caller = new Socket(InetAddress.getLoopbackAddress(), socket.port());
      // Some stay and say nothing; the others are gone at once.
      if (i % 10 == 0) opened.add(caller);
      else caller.close();
    }
    assertHeardAt(socket.port());
  }

  /** A publisher that connects by itself, as often as it must. */
  private void assertHeardAt(int port) throws Exception {
    for (int i = 0; i < 1_000; i++) {
      try (var peer = new RawPeer(new Socket(InetAddress.getLoopbackAddress(), port))) {
        peer.shakeHands(0, "PUB").send(RawPeer.frame(0, "right"));
        assertThat(received.next()).isEqualTo("right");
        return;
      } catch (IOException e) {
        Thread.sleep(10);
      }
    }
    throw new AssertionError("a right publisher is not let in");
  }

  @Test
  void severalPeersAreHeardAndNotMoreThanThereIsRoomFor() throws Exception {
    var socket = socket("tcp://*:*", ZmtpRole.SUB, PATIENT);
    var peers = new ArrayList<RawPeer>();
    for (int i = 0; i < ZmtpSocket.PEERS_MAX; i++) {
      var peer = new RawPeer(new Socket(InetAddress.getLoopbackAddress(), socket.port()));
      opened.add(peer);
      peers.add(peer.shakeHands(0, "PUB"));
    }
    try (var oneMore = new RawPeer(new Socket(InetAddress.getLoopbackAddress(), socket.port()))) {
      oneMore.awaitEnd();
    }
    for (var peer : peers) {
      peer.send(RawPeer.frame(0, "m"));
      assertThat(received.next()).isEqualTo("m");
    }
    peers.getFirst().close();
    assertHeardAt(socket.port());
  }

  @Test
  void closingDoesNotWaitForPeers() throws Exception {
    var connecting = socket("tcp://127.0.0.1:" + server.getLocalPort(), ZmtpRole.SUB, PATIENT);
    var silent = accept();
    connecting.close();
    silent.awaitEnd();
    var listening = socket("tcp://127.0.0.1:*", ZmtpRole.SUB, PATIENT);
    var peer = new RawPeer(new Socket(InetAddress.getLoopbackAddress(), listening.port()));
    opened.add(peer);
    peer.shakeHands(0, "PUB");
    listening.close();
    peer.awaitEnd();
    assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), listening.port()).close())
        .isInstanceOf(IOException.class);
  }

  @Test
  void hostNamesAndAddressesOfBothVersionsAreConnectedTo() throws Exception {
    socket("tcp://localhost:" + server.getLocalPort(), ZmtpRole.SUB, PATIENT);
    acceptRight();
    var loopback = new byte[16];
    loopback[15] = 1;
    try (var six = new ServerSocket(0, 5, InetAddress.getByAddress(loopback))) {
      for (var host : List.of("[::1]", "::1")) {
        socket("tcp://" + host + ":" + six.getLocalPort(), ZmtpRole.SUB, PATIENT);
        try (var peer = new RawPeer(six.accept())) {
          peer.shakeHands(0, "PUB").send(RawPeer.frame(0, host));
          assertThat(received.next()).isEqualTo(host);
        }
        opened.removeLast().close();
      }
    } catch (SocketException e) {
      abort("there is no IPv6 here: " + e.getMessage());
    }
  }

  @Test
  void endpointsThatAreNoneAreNamed() {
    for (var text :
        List.of(
            "",
            "tcp://nowhere",
            "tcp://:1",
            "tcp://h:0",
            "tcp://h:65536",
            "tcp://h:1x",
            "udp://h:1",
            "tcp://h h:1",
            "tcp://h:1/",
            "tcp://[h:1",
            "h:1")) {
      assertThatThrownBy(() -> ZmtpEndpoint.of(text))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("'" + text + "'");
    }
  }
}
