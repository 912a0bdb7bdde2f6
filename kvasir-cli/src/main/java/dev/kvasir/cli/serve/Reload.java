package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.KeyPaths;
import dev.kvasir.cli.settings.Configuration;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.spec.SpecError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Reloads a configuration when its file, the key file or a certificate file changes, and applies
 * the settings that can change at run time. It logs errors, which leave all settings unchanged, and
 * the keys that need a restart.
 */
final class Reload implements AutoCloseable {
  private final Configuration configuration;
  private final Serving serving;
  private final Duration pace;
  private final Consumer<String> log;
  private final CountDownLatch over = new CountDownLatch(1);
  private Deployment current;
  private String seen;
  private String last;

  /**
   * Looks at the files from now on, until it is closed.
   *
   * @param current the settings that are in force
   * @param pace how often it looks
   * @param log what is done and what is wrong, a line each
   */
  Reload(
      Configuration configuration,
      Deployment current,
      Serving serving,
      Duration pace,
      Consumer<String> log) {
    this.configuration = configuration;
    this.current = current;
    this.serving = serving;
    this.pace = pace;
    this.log = log;
    this.seen = stamps();
    this.last = seen;
    Thread.ofPlatform().name("kvasir-reload").daemon(true).start(this::watch);
  }

  private void watch() {
    try {
      while (!over.await(pace.toNanos(), TimeUnit.NANOSECONDS)) look();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until a file is the same twice: its writer may still be at work. */
  private void look() {
    var now = stamps();
    boolean settled = now.equals(last);
    last = now;
    if (!settled || now.equals(seen)) return;
    seen = now;
    try {
      use(configuration.read());
    } catch (NoSuchFileException e) {
      log.accept("the settings stay as they were: there is no file " + e.getMessage());
    } catch (IOException | SpecError | IllegalArgumentException | IllegalStateException e) {
      log.accept("the settings stay as they were: " + e.getMessage());
    }
  }

  private void use(Deployment read) throws IOException {
    var next = current.withRunning(read);
    serving.use(next);
    var changed = KeyPaths.different(current, next);
    var others = KeyPaths.different(next, read);
    log.accept(
        "the settings were read again"
            + (changed.isEmpty() ? "" : "; changed: " + String.join(", ", changed))
            + (others.isEmpty() ? "" : "; a restart is needed for " + String.join(", ", others)));
    boolean sameFiles = next.listen().equals(current.listen());
    current = next;
    // With the same files, what was written meanwhile is still to be seen.
    if (sameFiles) return;
    last = stamps();
    seen = last;
  }

  /** Changes when one of the files is written. */
  private String stamps() {
    var listen = current.listen();
    var files =
        new @Nullable Path[] {
          configuration.file(), listen.apiKeys(), listen.tlsCertificate(), listen.tlsKey()
        };
    return Arrays.stream(files).map(Reload::stamp).collect(Collectors.joining(" "));
  }

  private static String stamp(@Nullable Path file) {
    if (file == null) return "none";
    try {
      return Files.getLastModifiedTime(file).toMillis() + "+" + Files.size(file);
    } catch (IOException e) {
      return "missing";
    }
  }

  @Override
  public void close() {
    over.countDown();
  }
}
