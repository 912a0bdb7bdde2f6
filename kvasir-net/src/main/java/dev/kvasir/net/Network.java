package dev.kvasir.net;

import io.netty.channel.Channel;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.transport.Transport;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** The event loops that all sockets of a process share; by way of the kernel's epoll if it can. */
public final class Network implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final Vertx vertx;
  private final int loops;
  private final GuardedTransport transport;

  private Network(Vertx vertx, int loops, GuardedTransport transport) {
    this.vertx = vertx;
    this.loops = loops;
    this.transport = transport;
  }

  public static Network open(int loops) {
    if (loops < 1) throw new IllegalArgumentException(loops + " loops");
    var files =
        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false);
    var options =
        new VertxOptions()
            .setEventLoopPoolSize(loops)
            // Nothing here looks for a class loader in its thread.
            .setDisableTCCL(true)
            .setFileSystemOptions(files);
    var found = Transport.nativeTransport();
    boolean isNative = found != null && found.available();
    var transport = new GuardedTransport((isNative ? found : Transport.NIO).implementation());
    var vertx = Vertx.builder().with(options).withTransport(new Named(transport)).build();
    return new Network(vertx, loops, transport);
  }

  /** As many loops as fit beside the work of this machine. */
  public static Network open() {
    return open(Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 8));
  }

  public Vertx vertx() {
    return vertx;
  }

  public int loops() {
    return loops;
  }

  /** Tells of each connection to the port from now on, before anything is read from it. */
  public void guard(int port, Consumer<Channel> guard) {
    transport.guard(port, guard);
  }

  public void unguard(int port) {
    transport.unguard(port);
  }

  /** A transport as Vert.x is given one. */
  private record Named(GuardedTransport implementation) implements Transport {
    @Override
    public String name() {
      return "guarded";
    }

    @Override
    public boolean available() {
      return implementation.isAvailable();
    }

    @Override
    public Throwable unavailabilityCause() {
      return implementation.unavailabilityCause();
    }
  }

  public boolean isNative() {
    return transport.isNative();
  }

  @Override
  public void close() {
    await(vertx.close());
  }

  /** Waits for what the loops do; not to be called on one of them. */
  public static <T> T await(Future<T> future) {
    return await(future, PATIENCE);
  }

  static <T> T await(Future<T> future, Duration patience) {
    try {
      return future.await(patience);
    } catch (TimeoutException e) {
      throw new IllegalStateException("no answer from the network in " + patience, e);
    }
  }
}
