package dev.kvasir.gateway;

import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.server.HttpSettings;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/** A worker whose answers a test writes byte by byte. */
final class RawWorker implements AutoCloseable {
  /** Writes the answer to a request; the connection is read on after it. */
  @FunctionalInterface
  interface Script {
    void answer(Call call) throws IOException;
  }

  /** One request, and the way back to who sent it. */
  record Call(String path, Map<String, String> headers, String body, Socket socket, AtomicLong sent)
      implements AutoCloseable {
    void send(String text) throws IOException {
      send(text.getBytes(StandardCharsets.UTF_8));
    }

    void send(byte[] bytes) throws IOException {
      socket.getOutputStream().write(bytes);
      sent.addAndGet(bytes.length);
    }

    /** A whole answer of JSON. */
    void json(int status, String text) throws IOException {
      int length = text.getBytes(StandardCharsets.UTF_8).length;
      send(head(status, "application/json", "content-length: " + length) + text);
    }

    /** The head of a stream, which ends with the connection. */
    void streamHead() throws IOException {
      send(head(200, "text/event-stream", "connection: close"));
    }

    /** Sends nothing more until the other side is gone. */
    void hang() throws IOException {
      InputStream in = socket.getInputStream();
      in.transferTo(OutputStream.nullOutputStream());
    }

    /** Sends the same again and again until the other side is gone. */
    void endless(String text) throws IOException {
      while (true) send(text);
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  static String head(int status, String type, String... more) {
    return "HTTP/1.1 " + status + " X\r\ncontent-type: " + type + "\r\n" + lines(more) + "\r\n";
  }

  private static String lines(String... headers) {
    return headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n";
  }

  private final ServerSocket server;
  private final Map<String, Script> scripts = new ConcurrentHashMap<>();
  private final Queue<Socket> open = new ConcurrentLinkedQueue<>();
  private final Queue<Call> seen = new ConcurrentLinkedQueue<>();
  private final AtomicLong sent = new AtomicLong();
  private volatile Script otherwise = call -> call.json(200, "{}");

  RawWorker() {
    try {
      server = new ServerSocket(0, 4_096, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    well();
    Thread.ofVirtual().start(this::accept);
  }

  /** Is well, and has a model, whatever it was told to say of itself before. */
  void well() {
    on("/health", call -> call.json(200, "{}"));
    on("/metrics", call -> call.json(200, ""));
    on("/v1/models", call -> call.json(200, "{\"data\":[{\"id\":\"tiny\"}]}"));
    on("/query", call -> call.json(200, "{\"0\":{\"engine_id\":\"e\"}}"));
    scripts.remove("/tokenize");
  }

  RawWorker on(String path, Script script) {
    scripts.put(path, script);
    return this;
  }

  /** Answers all that asks for a completion. */
  RawWorker completing(Script script) {
    otherwise = script;
    return this;
  }

  Worker worker(String name) {
    return Worker.of("http://" + HttpSettings.LOOPBACK + ":" + server.getLocalPort()).named(name);
  }

  /** Requests for completions. */
  Queue<Call> seen() {
    return seen;
  }

  /** Returns how many bytes of answers to those were sent. */
  long sent() {
    return sent.get();
  }

  private void accept() {
    try {
      while (true) {
        var socket = server.accept();
        open.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException e) {
      close();
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      var in = new BufferedInputStream(socket.getInputStream());
      while (!socket.isClosed()) {
        var head = head(in);
        if (head.isEmpty()) return;
        var lines = head.split("\r\n", -1);
        var headers = new ConcurrentHashMap<String, String>();
        for (int i = 1; i < lines.length; i++) {
          int colon = lines[i].indexOf(':');
          if (colon < 0) continue;
          headers.put(
              lines[i].substring(0, colon).toLowerCase(Locale.ROOT),
              lines[i].substring(colon + 1).strip());
        }
        int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
        var body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
        var path = lines[0].split(" ", -1)[1];
        var script = scripts.get(path);
        var counted = script == null ? sent : new AtomicLong();
        var call = new Call(path, headers, body, socket, counted);
        if (script == null) seen.add(call);
        (script == null ? otherwise : script).answer(call);
        socket.getOutputStream().flush();
      }
    } catch (IOException e) {
      // The gateway has left, as it may at any time.
    } finally {
      open.remove(socket);
    }
  }

  private static String head(InputStream in) throws IOException {
    var text = new StringBuilder();
    while (text.indexOf("\r\n\r\n") < 0) {
      int next = in.read();
      if (next < 0) return "";
      text.append((char) next);
    }
    return text.toString();
  }

  @Override
  public void close() {
    try {
      server.close();
      for (var socket : open) socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
