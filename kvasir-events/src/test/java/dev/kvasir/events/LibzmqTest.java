package dev.kvasir.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.kvasir.events.zmtp.ZmtpTimes;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.router.index.KvFeed;
import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Engines use libzmq: the subscriber understands it, and is understood. */
@Timeout(180)
class LibzmqTest {
  /** As vLLM and SGLang do it: PUB and ROUTER; told by lines what to do. */
  private static final String ENGINE =
      """
      import struct, sys, zmq
      context = zmq.Context()
      live, replay = context.socket(zmq.PUB), context.socket(zmq.ROUTER)
      for each in live, replay:
          each.setsockopt(zmq.LINGER, 0)
          each.setsockopt(zmq.HEARTBEAT_IVL, 100)
          each.setsockopt(zmq.HEARTBEAT_TIMEOUT, 1000)
      batch = b"\\x93\\xcb" + struct.pack(">d", 1.0) + b"\\x90\\x00"
      ports = [each.bind_to_random_port("tcp://127.0.0.1") for each in (live, replay)]
      print(*ports, zmq.zmq_version(), flush=True)
      number = 0
      def answer():
          while replay.poll(20):
              peer, empty, asked = replay.recv_multipart()
              for told in range(int.from_bytes(asked, "big"), number):
                  replay.send_multipart([peer, b"", b"kv@", told.to_bytes(8, "big"), batch])
              replay.send_multipart([peer, b"", b"", (-1).to_bytes(8, "big", signed=True), b""])
      for line in sys.stdin:
          word, *rest = line.split()
          if word == "connect":
              live.connect(rest[0])
          elif word == "tell":
              live.send_multipart([b"other", b"not for us"])
              live.send_multipart([b"kv@", number.to_bytes(8, "big"), batch])
              number += 1
          elif word == "forget":
              number += 1
          answer()
          print("done", flush=True)
      """;

  private static final ZmtpTimes TIMES =
      new ZmtpTimes(
          Duration.ofSeconds(5),
          Duration.ofSeconds(2),
          Duration.ofMillis(100),
          Duration.ofSeconds(2),
          Duration.ofMillis(20),
          Duration.ofMillis(100),
          Duration.ofMinutes(1));

  private final LiveLoop loop = new LiveLoop("router");

  @AfterEach
  void close() {
    loop.close();
  }

  /** The process of an engine. */
  private static final class Engine implements AutoCloseable {
    private final Process process;
    private final BufferedReader out;
    private final String[] ports;

    Engine() throws IOException {
      process =
          new ProcessBuilder("python3", "-c", ENGINE)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      out = process.inputReader(UTF_8);
      ports = String.valueOf(out.readLine()).split(" ", -1);
      assertThat(ports).hasSize(3);
    }

    String endpoint(int at) {
      return "tcp://127.0.0.1:" + ports[at];
    }

    void command(String line) {
      try {
        process.outputWriter(UTF_8).append(line).append('\n').flush();
        assertThat(out.readLine()).isEqualTo("done");
      } catch (IOException e) {
        throw new AssertionError(line, e);
      }
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }

  private static Engine engine() throws Exception {
    try {
      var command = new ProcessBuilder("python3", "-c", "import zmq");
      command.redirectOutput(ProcessBuilder.Redirect.DISCARD);
      var process = command.redirectError(ProcessBuilder.Redirect.DISCARD).start();
      if (process.waitFor(60, TimeUnit.SECONDS) && process.exitValue() == 0) return new Engine();
      process.destroyForcibly();
    } catch (IOException e) {
      // There is no Python at all.
    }
    return abort("there is no python3 with pyzmq here");
  }

  private KvEventSubscriber subscriber(String endpoint, String replayEndpoint) throws IOException {
    var usual = SubscriberSettings.of(endpoint, replayEndpoint);
    var settings =
        new SubscriberSettings(
            endpoint,
            replayEndpoint,
            "kv@",
            usual.limits(),
            usual.order(),
            usual.batchesMax(),
            usual.room());
    return new KvEventSubscriber(loop, settings, new Nothing(), TIMES);
  }

  /** Only what the subscriber counts is of interest. */
  private static final class Nothing implements KvFeed.Target<EngineEvent> {
    @Override
    public void on(EngineEvent event) {
      // The batches have none.
    }

    @Override
    public void forget() {
      // There is nothing to forget.
    }
  }

  @Test
  void whatIsToldIsHeardAndWhatWasMissedIsRepeated() throws Exception {
    try (var engine = engine()) {
      for (int i = 0; i < 5; i++) engine.command("tell");
      try (var subscriber = subscriber(engine.endpoint(0), engine.endpoint(1))) {
        Await.until("all of the past", () -> batchesAfter(engine, "wait", subscriber) >= 5);
        long before = subscriber.stats().batches();
        Await.until("the present", () -> batchesAfter(engine, "tell", subscriber) > before);
        engine.command("forget");
        Await.until(
            "the gap is closed", () -> batchesAfter(engine, "tell", subscriber) > before + 3);
        // Both ask each other meanwhile whether they are there.
        Thread.sleep(3_000);
        engine.command("tell");
        long last = Await.on(loop, subscriber::stats).batches();
        Await.until("the end", () -> batchesAfter(engine, "tell", subscriber) > last);
        var stats = Await.on(loop, subscriber::stats);
        assertThat(stats.connects()).isEqualTo(1);
        assertThat(stats.malformed()).isZero();
        assertThat(stats.gaps()).isZero();
        assertThat(stats.restarts()).isZero();
      }
    }
  }

  private long batchesAfter(Engine engine, String line, KvEventSubscriber subscriber) {
    engine.command(line);
    return Await.on(loop, subscriber::stats).batches();
  }

  @Test
  void anEngineThatConnectsByItselfIsHeard() throws Exception {
    try (var engine = engine();
        var subscriber = subscriber("tcp://127.0.0.1:*", engine.endpoint(1))) {
      engine.command("connect tcp://127.0.0.1:" + subscriber.port());
      Await.until("a batch", () -> batchesAfter(engine, "tell", subscriber) > 3);
      assertThat(Await.on(loop, subscriber::stats).connects()).isEqualTo(1);
    }
  }
}
