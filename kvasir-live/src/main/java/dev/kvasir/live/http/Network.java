package dev.kvasir.live.http;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/** The event loops that all sockets of a process share; by way of the kernel's epoll if it can. */
public final class Network implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final Vertx vertx;
  private final int loops;

  private Network(Vertx vertx, int loops) {
    this.vertx = vertx;
    this.loops = loops;
  }

  public static Network open(int loops) {
    if (loops < 1) throw new IllegalArgumentException(loops + " loops");
    var files =
        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false);
    var options =
        new VertxOptions()
            .setEventLoopPoolSize(loops)
            .setPreferNativeTransport(true)
            // Nothing here looks for a class loader in its thread.
            .setDisableTCCL(true)
            .setFileSystemOptions(files);
    return new Network(Vertx.vertx(options), loops);
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

  public boolean isNative() {
    return vertx.isNativeTransportEnabled();
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
