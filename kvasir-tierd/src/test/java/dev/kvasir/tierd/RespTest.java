package dev.kvasir.tierd;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.kvasir.net.Secret;
import dev.kvasir.tierd.resp.StoredValues;
import dev.kvasir.tierd.settings.RespSettings;
import dev.kvasir.tierd.settings.TierSettings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The Redis protocol of the daemon, byte for byte and with the clients that people have. */
@Timeout(180)
@Tag("all")
class RespTest {
  private static final String PASSWORD = "correct horse";
  private static final int BLOCK_BYTES = 8_192;

  @TempDir Path temp;

  private TierSettings settings(long diskBytes) {
    return settings(8 << 20, diskBytes, BLOCK_BYTES, 1 << 20);
  }

  private TierSettings settings(
      long hostBytes, long diskBytes, int blockBytes, long valueBytesMax) {
    var base = TierChild.settings(temp, hostBytes, diskBytes);
    var resp =
        new RespSettings(
            temp.resolve("resp"), "127.0.0.1", 0, Secret.of(PASSWORD), blockBytes, valueBytesMax);
    return new TierSettings(
        base.socket(),
        base.users(),
        base.bufferFolders(),
        0,
        64,
        1,
        base.hostBytes(),
        diskBytes,
        base.folder(),
        base.eviction(),
        Duration.ZERO,
        TierSettings.Load.QUICKER,
        0,
        base.order(),
        base.disk(),
        null,
        null,
        resp,
        null);
  }

  /** A client that says exactly what it is told to. */
  private static final class Client implements AutoCloseable {
    private final SocketChannel socket;

    Client(SocketChannel socket) {
      this.socket = socket;
    }

    static Client tcp(TierDaemon daemon) throws IOException {
      return new Client(
          SocketChannel.open(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), daemon.respPort())));
    }

    void send(String text) throws IOException {
      var bytes = ByteBuffer.wrap(text.getBytes(ISO_8859_1));
      while (bytes.hasRemaining()) socket.write(bytes);
    }

    String exchange(String text, String expected) throws IOException {
      send(text);
      var response = ByteBuffer.allocate(expected.length());
      while (response.hasRemaining() && socket.read(response) >= 0) {}
      return new String(response.array(), 0, response.position(), ISO_8859_1);
    }

    void expect(String text, String expected) throws IOException {
      assertThat(exchange(text, expected)).isEqualTo(expected);
    }

    /** Reads on to the end of the line. */
    void line() throws IOException {
      var one = ByteBuffer.allocate(1);
      while (socket.read(one.clear()) > 0 && one.get(0) != '\n') {}
    }

    String rest() throws IOException {
      var out = new ByteArrayOutputStream();
      var some = ByteBuffer.allocate(4_096);
      while (socket.read(some.clear()) >= 0) out.write(some.array(), 0, some.position());
      return out.toString(ISO_8859_1);
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  private static String command(String... words) {
    var text = new StringBuilder("*" + words.length + "\r\n");
    for (var word : words) text.append("$" + word.length() + "\r\n" + word + "\r\n");
    return text.toString();
  }

  private static String value(int length, long seed) {
    var bytes = new byte[length];
    new SplittableRandom(seed).nextBytes(bytes);
    return new String(bytes, ISO_8859_1);
  }

  private static String bulk(String text) {
    return "$" + text.length() + "\r\n" + text + "\r\n";
  }

  @Test
  void nothingIsDoneWithoutThePassword() throws Exception {
    try (var daemon = TierDaemon.open(settings(0));
        var client = Client.tcp(daemon)) {
      client.expect(command("GET", "a"), "-NOAUTH Authentication required.\r\n");
      client.expect(command("SET", "a", value(9_000, 1)), "-NOAUTH Authentication required.\r\n");
      var wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
      client.expect(command("AUTH", "wrong"), wrong);
      client.expect(command("HELLO", "3", "AUTH", "default", "wrong"), wrong);
      client.expect(command("AUTH", "default", PASSWORD), "+OK\r\n");
      client.expect(command("PING"), "+PONG\r\n");
      client.expect("PING\r\n", "+PONG\r\n");
      assertThat(daemon.metrics()).contains("kvasir_tier_resp_wrong_passwords_total 2\n");
    }
    assertThatThrownBy(() -> new RespSettings(null, "127.0.0.1", 0, null, BLOCK_BYTES, 1))
        .hasMessageContaining("needs a password");
  }

  @Test
  void whoHasNotSaidThePasswordSaysLittle() throws Exception {
    try (var daemon = TierDaemon.open(settings(0))) {
      try (var client = Client.tcp(daemon)) {
        client.send("*1024\r\n");
        assertThat(client.rest()).startsWith("-ERR Protocol error: a length of 1024, at most 10");
      }
      try (var client = Client.tcp(daemon)) {
        client.send("*3\r\n$3\r\nDEL\r\n$65536\r\n");
        assertThat(client.rest()).startsWith("-ERR Protocol error: a length of 65536");
      }
      try (var client = Client.tcp(daemon)) {
        client.send("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$65536\r\n");
        assertThat(client.rest()).startsWith("-ERR Protocol error: a length of 65536");
      }
    }
  }

  /** 64 MiB for each connection, as long as the command does not end. */
  @Test
  void theWordsOfACommandAreBounded() throws Exception {
    try (var daemon = TierDaemon.open(settings(0));
        var client = Client.tcp(daemon)) {
      client.expect(command("AUTH", PASSWORD), "+OK\r\n");
      client.send("*1024\r\n$3\r\nDEL\r\n");
      var refused = "-ERR Protocol error: too big command";
      for (int i = 0; i < 15; i++) client.send("$65536\r\n" + "x".repeat(65_536) + "\r\n");
      // Nothing follows the word that is too much: what a server has not read resets its answer.
      client.expect("$65536\r\n", refused);
    }
  }

  /** Values that are on their way to clients are held in host memory. */
  @Test
  void valuesThatNobodyReadsDoNotStopOthers() throws Exception {
    int length = 15 << 20;
    var stalled = new ArrayList<Client>();
    try (var daemon = TierDaemon.open(settings(64 << 20, 0, 64 << 10, 16 << 20));
        var client = Client.tcp(daemon)) {
      client.expect(command("AUTH", PASSWORD), "+OK\r\n");
      for (int i = 0; i < 4; i++) {
        client.expect(command("SET", "large" + i, "x".repeat(length)), "+OK\r\n");
      }
      for (int i = 0; i < 4; i++) {
        var each = Client.tcp(daemon);
        stalled.add(each);
        each.socket.setOption(StandardSocketOptions.SO_RCVBUF, 4_096);
        each.expect(command("AUTH", PASSWORD), "+OK\r\n");
        each.exchange(command("GET", "large" + i), "$");
      }
      for (int i = 0; i < 8; i++) {
        client.expect(command("SET", "other" + i, "y".repeat(length)), "+OK\r\n");
      }
    } finally {
      for (var each : stalled) each.close();
    }
  }

  /** Host memory is taken when a value begins to come. */
  @Test
  void valuesThatNeverEndDoNotStopOthers() throws Exception {
    var stalled = new ArrayList<Client>();
    try (var daemon = TierDaemon.open(settings(64 << 20, 0, 64 << 10, 16 << 20));
        var client = Client.tcp(daemon)) {
      client.expect(command("AUTH", PASSWORD), "+OK\r\n");
      for (int i = 0; i < 40; i++) {
        var each = Client.tcp(daemon);
        stalled.add(each);
        each.expect(command("AUTH", PASSWORD), "+OK\r\n");
        each.send("*3\r\n$3\r\nSET\r\n$2\r\n%02d\r\n$2000000\r\nx".formatted(i));
      }
      var set = command("SET", "other", "y".repeat(2_000_000));
      var ok = "";
      for (int i = 0; i < 20 && !ok.equals("+OK"); i++) {
        ok = client.exchange(set, "+OK");
        client.line();
      }
      assertThat(ok).isEqualTo("+OK");
    } finally {
      for (var each : stalled) each.close();
    }
  }

  /** The host memory into which they come is unmapped when nobody writes to it any more. */
  @Test
  void aDaemonCanBeClosedWhileValuesCome() throws Exception {
    for (int round = 0; round < 5; round++) {
      var sending = new ArrayList<Client>();
      try (var daemon = TierDaemon.open(settings(16 << 20, 0, 64 << 10, 1 << 20))) {
        for (int i = 0; i < 60; i++) {
          var each = Client.tcp(daemon);
          sending.add(each);
          each.expect(command("AUTH", PASSWORD), "+OK\r\n");
          each.send("*3\r\n$3\r\nSET\r\n$2\r\n%02d\r\n$60000\r\nx".formatted(i));
        }
      } finally {
        for (var each : sending) each.close();
      }
    }
  }

  @Test
  void valuesOfAnyLengthComeBackAsTheyWere() throws Exception {
    try (var daemon = TierDaemon.open(settings(0));
        var client = Client.tcp(daemon)) {
      client.expect(command("AUTH", PASSWORD), "+OK\r\n");
      int edge = BLOCK_BYTES - StoredValues.HEAD_BYTES;
      for (int length : new int[] {0, 1, edge - 1, edge, edge + 1, edge + BLOCK_BYTES, 300_000}) {
        var key = "key" + length;
        client.expect(command("SET", key, value(length, length)), "+OK\r\n");
        client.expect(command("GET", key), bulk(value(length, length)));
      }
      var many = "*3\r\n" + bulk(value(1, 1)) + "$-1\r\n" + bulk(value(edge, edge));
      client.expect(command("MGET", "key1", "none", "key" + edge), many);
      client.expect(command("EXISTS", "key1", "none", "key300000"), ":2\r\n");
      client.expect(command("SET", "big", value((1 << 20) + 1, 1)), "-ERR a value of 1048577");
    }
  }

  @Test
  void aValueIsReplacedAndRemoved() throws Exception {
    try (var daemon = TierDaemon.open(settings(8 << 20));
        var client = Client.tcp(daemon)) {
      client.expect(command("AUTH", PASSWORD), "+OK\r\n");
      for (int turn = 0; turn < 20; turn++) {
        client.expect(command("SET", "a", value(20_000, turn)), "+OK\r\n");
        client.expect(command("GET", "a"), bulk(value(20_000, turn)));
      }
      client.expect(command("DEL", "a", "b"), ":1\r\n");
      client.expect(command("GET", "a"), "$-1\r\n");
    }
  }

  /** Others may fill host memory in between. */
  @Test
  void whatExistsIsKeptUntilItIsFetched() throws Exception {
    try (var daemon = TierDaemon.open(settings(0));
        var client = Client.tcp(daemon)) {
      client.expect(command("AUTH", PASSWORD), "+OK\r\n");
      client.expect(command("SET", "a", value(20_000, 1)), "+OK\r\n");
      client.expect(command("SET", "b", value(20_000, 2)), "+OK\r\n");
      client.expect(command("EXISTS", "a"), ":1\r\n");
      for (int i = 0; i < 1_200; i++) {
        client.expect(command("SET", "other" + i, value(5_000, i)), "+OK\r\n");
      }
      client.expect(command("GET", "b"), "$-1\r\n");
      client.expect(command("GET", "a"), bulk(value(20_000, 1)));
    }
  }

  @Test
  void valuesOnDiskAreFoundByTheNextDaemon() throws Exception {
    try (var daemon = TierDaemon.open(settings(8 << 20));
        var client = Client.tcp(daemon)) {
      client.expect(command("AUTH", PASSWORD), "+OK\r\n");
      client.expect(command("SET", "a", value(100_000, 1)), "+OK\r\n");
      for (int i = 0; !daemon.metrics().contains("outcome=\"stored\"} 13\n"); i++) {
        assertThat(i).isLessThan(500);
        Thread.sleep(10);
      }
      for (int i = 0; !daemon.metrics().contains("tier=\"disk\",outcome=\"stored\"} 13\n"); i++) {
        assertThat(i).isLessThan(500);
        Thread.sleep(10);
      }
    }
    try (var daemon = TierDaemon.open(settings(8 << 20));
        var client = Client.tcp(daemon)) {
      client.expect(command("AUTH", PASSWORD), "+OK\r\n");
      client.expect(command("EXISTS", "a"), ":1\r\n");
      client.expect(command("GET", "a"), bulk(value(100_000, 1)));
    }
  }

  @Test
  void whatIsNotOfTheProtocolEndsTheConnection() throws Exception {
    try (var daemon = TierDaemon.open(settings(0))) {
      for (var bad :
          List.of("*-1\r\n", "*99999999\r\n", "*1\r\n:1\r\n", "*1\r\n$99999999999999\r\n")) {
        try (var client = Client.tcp(daemon)) {
          client.send(bad);
          assertThat(client.rest()).startsWith("-ERR Protocol error");
        }
      }
      try (var client = Client.tcp(daemon)) {
        client.expect(command("AUTH", PASSWORD), "+OK\r\n");
        client.send("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$100000\r\nhalf");
      }
      try (var client = Client.tcp(daemon)) {
        client.expect(command("AUTH", PASSWORD), "+OK\r\n");
        client.expect(command("GET", "a"), "$-1\r\n");
        client.expect(command("FLUSHALL"), "-ERR unknown command 'FLUSHALL'\r\n");
      }
    }
  }

  @Test
  void theToolsOfRedisAreContent() throws Exception {
    try (var daemon = TierDaemon.open(settings(0))) {
      var port = "" + daemon.respPort();
      var socket = temp.resolve("resp").toString();
      assertThat(run("redis-cli", "-s", socket, "set", "x", "y")).contains("OK");
      assertThat(run("redis-cli", "-3", "-p", port, "-a", PASSWORD, "get", "x")).contains("y");
      var bench =
          run(
              "redis-benchmark",
              "-p",
              port,
              "-a",
              PASSWORD,
              "-q",
              "-t",
              "ping,set,get",
              "-n",
              "2000",
              "-r",
              "500",
              "-d",
              "10000",
              "-c",
              "5");
      assertThat(bench).contains("SET: ", "GET: ").doesNotContain("Error");
    }
  }

  private String run(String... command) throws IOException, InterruptedException {
    var output = temp.resolve("said");
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    Process process = null;
    try {
      process = builder.redirectOutput(output.toFile()).start();
    } catch (IOException e) {
      abort("there is no " + command[0] + " here");
    }
    if (!process.waitFor(60, TimeUnit.SECONDS)) process.destroyForcibly();
    return Files.readString(output, ISO_8859_1);
  }
}
