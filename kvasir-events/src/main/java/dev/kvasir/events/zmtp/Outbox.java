package dev.kvasir.events.zmtp;

import dev.kvasir.Nullable;
import java.io.IOException;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Messages on their way to a peer. No sender waits for the peer: a thread writes as long as there
 * is something to write, and a peer that does not read what it asked for is disconnected.
 */
final class Outbox {
  private static final int WAITING_MAX = 64;

  private final Socket socket;
  private final Queue<byte[]> waiting = new ArrayDeque<>();
  private boolean writing;

  Outbox(Socket socket) {
    this.socket = socket;
  }

  void send(byte[] bytes) {
    if (add(bytes)) Thread.ofVirtual().name("kv-events writer").start(this::write);
  }

  /** Adds the bytes; returns whether a thread is needed to write them. */
  private synchronized boolean add(byte[] bytes) {
    if (waiting.size() == WAITING_MAX) {
      hangUp();
      return false;
    }
    waiting.add(bytes);
    boolean needed = !writing;
    writing = true;
    return needed;
  }

  private synchronized byte @Nullable [] next() {
    var bytes = waiting.poll();
    writing = bytes != null;
    return bytes;
  }

  private void write() {
    try {
      var out = socket.getOutputStream();
      for (var bytes = next(); bytes != null; bytes = next()) out.write(bytes);
    } catch (IOException e) {
      hangUp();
    }
  }

  /** Closes the socket; whoever reads it finds it closed, and says so. */
  private void hangUp() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new AssertionError("a socket could not be closed", e);
    }
  }
}
