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
import java.util.concurrent.TimeUnit;

/** A proxy in a process of its own, and the port it listens on. */
record ProxyProcess(Process process, int port, Path folder) implements AutoCloseable {
  private static final int TRIES_MAX = 100;
  private static final int READY_TRIES_MAX = 1_200;

  private static final int END_SECONDS = 10;

  /** Of /proc, in a second. */
  private static final double TICKS = 100;

  /** nginx in front of a worker; says what to do where there is none. */
  static ProxyProcess nginx(int worker) throws IOException, InterruptedException {
    int port = freePort();
    var folder = Files.createTempDirectory("kvasir-nginx");
    var settings = Files.writeString(folder.resolve("nginx.conf"), plain(worker, port));
    var path = System.getenv("PATH") + ":/usr/sbin";
    var command = pinned("proxy");
    var run = "PATH=\"$2\" exec nginx -p \"$0\" -c \"$1\"";
    command.addAll(List.of("sh", "-c", run, "" + folder, "" + settings, path));
    var builder = new ProcessBuilder(command);
    var nginx = new ProxyProcess(builder.inheritIO().start(), port, folder);
    nginx.awaitPort();
    return nginx;
  }

  /**
   * As plain as it can be, with its connections to the worker kept open. By auto it takes all
   * processors of the machine, also where it is pinned to some.
   */
  private static String plain(int worker, int port) {
    return """
    worker_processes %s;
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
        .formatted(System.getProperty("nginx.workers", "auto"), worker, port);
  }

  /** A proxy by a command in which {port} stands for where it is to listen. */
  static ProxyProcess command(String command, String name)
      throws IOException, InterruptedException {
    int port = freePort();
    var folder = Files.createTempDirectory("kvasir-" + name);
    var log = folder.resolve("log").toFile();
    var words = pinned("proxy");
    words.addAll(List.of("sh", "-c", "exec " + command.replace("{port}", "" + port)));
    var process = new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(log).start();
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
    var log = Files.readString(folder.resolve("log"));
    throw new IllegalStateException(name + " does not serve: " + log);
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

  /** Returns the resident memory of the process and its children, in MiB. */
  double residentMib() throws IOException {
    double sum = 0;
    for (var each : all()) {
      var status = Path.of("/proc", Long.toString(each.pid()), "status");
      if (!Files.exists(status)) continue;
      for (var line : Files.readAllLines(status)) {
        if (!line.startsWith("VmRSS:")) continue;
        sum += Double.parseDouble(line.replaceAll("\\D", "")) / 1_024;
      }
    }
    return sum;
  }

  private List<ProcessHandle> all() {
    var all = new ArrayList<>(process.descendants().toList());
    all.add(process.toHandle());
    return all;
  }

  /**
   * Returns the words before a command that pin it to the processors that -Dpin.ROLE names, such as
   * 0-3,8.
   */
  private static List<String> pinned(String role) {
    var processors = System.getProperty("pin." + role, "");
    return new ArrayList<>(processors.isEmpty() ? List.of() : List.of("taskset", "-c", processors));
  }

  /** A main class of this class path, which prints its port and ends with its input. */
  static ProxyProcess java(Class<?> main, String... arguments) throws IOException {
    var process = start(main, List.of(arguments));
    int port = Integer.parseInt(firstLine(process));
    return new ProxyProcess(process, port, Files.createTempDirectory("kvasir"));
  }

  /** A main class of this class path on the processors of -Dpin.worker. */
  static Process start(Class<?> main, List<String> arguments) throws IOException {
    var command = pinned("worker");
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseCompactObjectHeaders", "--enable-native-access=ALL-UNNAMED"));
    command.add("-Dapart=" + Boolean.getBoolean("apart"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(arguments);
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /** Returns the first line that the process prints. */
  static String firstLine(Process process) throws IOException {
    var out = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    var line = out.readLine();
    if (line == null) throw new IOException("a server ended before it listened");
    return line;
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

  /** Processor time, in seconds. */
  record Cpu(double user, double system) {
    double sum() {
      return user + system;
    }

    Cpu since(Cpu before) {
      return new Cpu(user - before.user, system - before.system);
    }
  }

  /** Returns the processor time that it and its children have used. */
  Cpu cpu() {
    double user = 0;
    double system = 0;
    for (var each : all()) {
      var line = stat(each);
      if (line.isEmpty()) continue;
      // A name may have spaces; behind it the state is the first field.
      var fields = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
      user += Long.parseLong(fields[11]) / TICKS;
      system += Long.parseLong(fields[12]) / TICKS;
    }
    return new Cpu(user, system);
  }

  double cpuSeconds() {
    return cpu().sum();
  }

  private static String stat(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
    } catch (IOException e) {
      return ""; // It has ended.
    }
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        for (var each : all()) each.destroyForcibly();
        process.waitFor();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(file);
    } catch (IOException e) {
      System.err.println("left behind: " + folder);
    }
  }
}
