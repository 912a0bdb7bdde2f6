package dev.kvasir.net.redis;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisException;

/** A real redis-server in a process of its own. */
public final class RedisServer implements AutoCloseable {
  private static final int PATIENCE_SECONDS = 20;

  public final int port;
  private final Path folder;
  private final List<String> options;
  private final ServerProcess process;

  private RedisServer(int port, Path folder, List<String> options) throws IOException {
    this.port = port;
    this.folder = folder;
    this.options = options;
    this.process = launch();
  }

  /** Starts one, or skips the test where there is none to start. */
  public static RedisServer start(Path folder, String... options) throws IOException {
    assumeTrue(installed(), "redis-server is not installed: apt-get install redis-server");
    return new RedisServer(freePort(), Files.createDirectories(folder), List.of(options));
  }

  static boolean installed() {
    for (var place : System.getenv("PATH").split(File.pathSeparator, -1)) {
      if (Files.isExecutable(Path.of(place, "redis-server"))) return true;
    }
    return false;
  }

  static int freePort() throws IOException {
    // The bus of a cluster listens 10,000 above.
    for (int port = 20_000; port < 50_000; port += 7) {
      int one = port + (int) (ProcessHandle.current().pid() % 7);
      try (var first = new ServerSocket(one, 1, InetAddress.getLoopbackAddress());
          var bus = new ServerSocket(one + 10_000, 1, InetAddress.getLoopbackAddress())) {
        if (first.isBound() && bus.isBound()) return one;
      } catch (IOException e) {
        // Taken.
      }
    }
    throw new IOException("no free port");
  }

  public int port() {
    return port;
  }

  public String node() {
    return "127.0.0.1:" + port;
  }

  public Jedis client() {
    return new Jedis("127.0.0.1", port);
  }

  private ServerProcess launch() throws IOException {
    var command = new ArrayList<String>();
    command.addAll(List.of("redis-server", "--bind", "127.0.0.1", "--save", ""));
    command.addAll(List.of("--appendonly", "no", "--dir", folder.toString()));
    if (!options.contains("--tls-port")) command.addAll(List.of("--port", "" + port));
    else command.addAll(List.of("--port", "0", "--tls-port", "" + port));
    for (var option : options) if (!option.equals("--tls-port")) command.add(option);
    return new ServerProcess(
        command, folder.resolve("log"), Duration.ofSeconds(PATIENCE_SECONDS), this::listens);
  }

  private boolean listens() {
    try (var client = client()) {
      client.connect();
      if (options.contains("--requirepass") || options.contains("--tls-port")) return true;
      return client.ping().equals("PONG");
    } catch (JedisException e) {
      return false;
    }
  }

  public void kill() {
    process.kill();
  }

  public void restart() throws IOException {
    process.restart();
  }

  @Override
  public void close() {
    process.close();
  }
}
