package dev.kvasir.events;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.util.concurrent.atomic.AtomicBoolean;

/** Wakes a thread that waits for its sockets, since only that thread may touch them. */
final class Wakeup implements AutoCloseable {
  private final AtomicBoolean raised = new AtomicBoolean();
  private final Pipe pipe;

  Wakeup() throws IOException {
    pipe = Pipe.open();
    pipe.source().configureBlocking(false);
  }

  /** Returns the channel to wait for. */
  SelectableChannel channel() {
    return pipe.source();
  }

  /** Wakes the thread, unless it is being woken; from any thread. */
  void raise() {
    if (raised.getAndSet(true)) return;
    try {
      pipe.sink().write(ByteBuffer.allocate(1));
    } catch (ClosedChannelException e) {
      // Nobody is left to be woken.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** To be called before looking for what there is to do. */
  void lower() {
    try {
      pipe.source().read(ByteBuffer.allocate(8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    raised.set(false);
  }

  @Override
  public void close() {
    try {
      pipe.source().close();
      pipe.sink().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
