package dev.kvasir.net.client;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A server that does on each of its connections what a test says. */
final class ScriptedServer implements AutoCloseable {
  /** Serves one connection, which is closed after it. */
  @FunctionalInterface
  interface Script {
    void serve(Line line) throws IOException, InterruptedException;
  }

  /**
   * One connection.
   *
   * @param number of the connection, from 1 on
   */
  record Line(int number, Socket socket, InputStream in, Queue<String> requests) {
    /** Waits for a request, and returns its head and body; empty where none comes any more. */
    String request() throws IOException {
      var head = new StringBuilder();
      while (head.indexOf("\r\n\r\n") < 0) {
        int next = in.read();
        if (next < 0) return "";
        head.append((char) next);
      }
      int at = head.indexOf("content-length: ");
      int length = 0;
      if (at >= 0) {
        int from = at + "content-length: ".length();
        length = Integer.parseInt(head.substring(from, head.indexOf("\r\n", at)));
      }
      var body = new String(in.readNBytes(length), StandardCharsets.ISO_8859_1);
      requests.add(head + body);
      return head + body;
    }

    void send(String text) throws IOException {
      socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Answers every request alike, as long as they come. */
    void always(String answer) throws IOException {
      while (!request().isEmpty()) send(answer);
    }

    /** Closes it so that the other side sees an error instead of an end. */
    void reset() throws IOException {
      socket.setSoLinger(true, 0);
      socket.close();
    }
  }

  private final ServerSocket server;
  private final Script script;
  private final Queue<Socket> open = new ConcurrentLinkedQueue<>();
  private final Queue<String> requests = new ConcurrentLinkedQueue<>();
  private final AtomicInteger connections = new AtomicInteger();

  ScriptedServer(ServerSocket server, Script script) {
    this.server = server;
    this.script = script;
    Thread.ofVirtual().start(this::accept);
  }

  static ScriptedServer start(Script script) {
    try {
      return new ScriptedServer(new ServerSocket(0), script);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  int port() {
    return server.getLocalPort();
  }

  Target target() {
    return new Target("127.0.0.1", port(), Target.Security.PLAIN);
  }

  int connections() {
    return connections.get();
  }

  /** Returns the requests in the order in which they came. */
  Queue<String> requests() {
    return requests;
  }

  private void accept() {
    try {
      while (true) {
        var socket = server.accept();
        open.add(socket);
        int number = connections.incrementAndGet();
        Thread.ofVirtual().start(() -> serve(number, socket));
      }
    } catch (IOException e) {
      // It is closed.
    }
  }

  private void serve(int number, Socket socket) {
    try (socket) {
      var in = new BufferedInputStream(socket.getInputStream());
      script.serve(new Line(number, socket, in, requests));
    } catch (IOException e) {
      // The client has left, as some tests want.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
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
