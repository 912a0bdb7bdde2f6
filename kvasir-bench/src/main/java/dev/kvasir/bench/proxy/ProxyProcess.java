package dev.kvasir.bench.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A proxy in a process of its own, and the port it listens on. */
record ProxyProcess(Process process, int port, Path folder) implements AutoCloseable {
  private static final int TRIES_MAX = 100;
  private static final int READY_TRIES_MAX = 1_200;

  /** nginx in front of a worker; says what to do where there is none. */
  static ProxyProcess nginx(int worker) throws IOException, InterruptedException {
    int port = freePort();
    var folder = Files.createTempDirectory("kvasir-nginx");
    var settings = Files.writeString(folder.resolve("nginx.conf"), plain(worker, port));
    var path = System.getenv("PATH") + ":/usr/sbin";
    var command =
        List.of(
            "sh", "-c", "PATH=\"$2\" exec nginx -p \"$0\" -c \"$1\"", "" + folder, "" + settings);
    var builder = new ProcessBuilder(new ArrayList<>(command));
    builder.command().add(path);
    var nginx = new ProxyProcess(builder.inheritIO().start(), port, folder);
    nginx.awaitPort();
    return nginx;
  }

  /** As plain as it can be, with its connections to the worker kept open. */
  private static String plain(int worker, int port) {
    return """
    worker_processes auto;
    daemon off;
    pid nginx.pid;
    error_log error.log;
    events { worker_connections 4096; }
    http {
      access_log off;
      keepalive_requests 100000000;
      client_body_temp_path body;
      proxy_temp_path proxy;
      fastcgi_temp_path fastcgi;
      uwsgi_temp_path uwsgi;
      scgi_temp_path scgi;
      upstream worker { server 127.0.0.1:%d; keepalive 256; keepalive_requests 100000000; }
      server {
        listen 127.0.0.1:%d;
        location / {
          proxy_pass http://worker;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_buffering off;
        }
      }
    }
    """
        .formatted(worker, port);
  }

  /** A proxy by a command in which {port} stands for where it is to listen. */
  static ProxyProcess command(String command, String name)
      throws IOException, InterruptedException {
    int port = freePort();
    var folder = Files.createTempDirectory("kvasir-" + name);
    var log = folder.resolve("log").toFile();
    var process =
        new ProcessBuilder("sh", "-c", "exec " + command.replace("{port}", "" + port))
            .redirectErrorStream(true)
            .redirectOutput(log)
            .start();
    var proxy = new ProxyProcess(process, port, folder);
    proxy.awaitReady(name);
    return proxy;
  }

  /** Waits until it says that it can serve. */
  private void awaitReady(String name) throws IOException, InterruptedException {
    for (int i = 0; i < READY_TRIES_MAX && process.isAlive(); i++) {
      if (isReady()) return;
      Thread.sleep(50);
    }
    var said = Files.readString(folder.resolve("log"));
    throw new IllegalStateException(name + " does not serve: " + said);
  }

  private boolean isReady() {
    for (var path : new String[] {"/readiness", "/ready"}) {
      try {
        var url = URI.create("http://127.0.0.1:" + port + path).toURL();
        var connection = (HttpURLConnection) url.openConnection();
        connection.setConnectTimeout(1_000);
        connection.setReadTimeout(1_000);
        if (connection.getResponseCode() == 200) return true;
      } catch (IOException e) {
        return false;
      }
    }
    return false;
  }

  double residentMib() throws IOException {
    return PeersBench.residentMib(process.toHandle());
  }

  /** A main class of this class path, which prints its port and ends with its input. */
  static ProxyProcess java(Class<?> main, String... arguments) throws IOException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseCompactObjectHeaders", "--enable-native-access=ALL-UNNAMED"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    var process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    var out = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    var line = out.readLine();
    if (line == null) throw new IOException(main.getName() + " ended before it listened");
    return new ProxyProcess(process, Integer.parseInt(line), Files.createTempDirectory("kvasir"));
  }

  private static int freePort() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void awaitPort() throws InterruptedException {
    for (int i = 0; i < TRIES_MAX && process.isAlive(); i++) {
      try (var _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
        return;
      } catch (IOException e) {
        Thread.sleep(50);
      }
    }
    throw new IllegalStateException(
        "nginx does not answer: install it (Debian: apt-get install nginx-light), or read its"
            + " words");
  }

  /** User and system time that it has taken, in seconds. */
  double cpuSeconds() {
    double own = seconds(process.toHandle());
    return own + process.descendants().mapToDouble(ProxyProcess::seconds).sum();
  }

  private static double seconds(ProcessHandle handle) {
    return handle.info().totalCpuDuration().map(time -> time.toNanos() / 1e9).orElse(0.0);
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().join();
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(file);
    } catch (IOException e) {
      System.err.println("left behind: " + folder);
    }
  }
}
