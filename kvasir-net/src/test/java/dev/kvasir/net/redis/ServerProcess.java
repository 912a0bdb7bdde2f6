package dev.kvasir.net.redis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A real server in a process of its own, which can be killed and started again. */
public final class ServerProcess implements AutoCloseable {
  private static final long LOOK_NANOS = 20_000_000;

  private final List<String> command;
  private final Path log;
  private final Duration patience;
  private final BooleanSupplier answers;
  private Process process;

  /** Starts it and waits until it answers; where it does not, its log says why. */
  public ServerProcess(List<String> command, Path log, Duration patience, BooleanSupplier answers)
      throws IOException {
    this.command = List.copyOf(command);
    this.log = log;
    this.patience = patience;
    this.answers = answers;
    this.process = launch();
  }

  private Process launch() throws IOException {
    var started =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    long end = System.nanoTime() + patience.toNanos();
    while (!answers.getAsBoolean()) {
      if (!started.isAlive() || System.nanoTime() > end) {
        throw new IOException(Files.readString(log));
      }
      pause();
    }
    return started;
  }

  /** A moment between two looks, in which the server gets the processor. */
  public static void pause() {
    LockSupport.parkNanos(LOOK_NANOS);
  }

  public void kill() {
    process.destroyForcibly();
    process.onExit().join();
  }

  public void restart() throws IOException {
    kill();
    process = launch();
  }

  @Override
  public void close() {
    kill();
  }
}
