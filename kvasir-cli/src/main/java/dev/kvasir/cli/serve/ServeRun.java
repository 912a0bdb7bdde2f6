package dev.kvasir.cli.serve;

import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.cli.process.Interrupt;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.net.HeapKeeper;
import dev.kvasir.net.HeapWatchdog;
import dev.kvasir.tools.doctor.CacheFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/** Serves from the start until it is asked to stop. */
record ServeRun(
    PrintWriter err, Map<String, String> environment, String version, ServeOptions options) {

  /**
   * Time limit for saving computed blocks and closing connections after all requests are answered.
   */
  private static final Duration SAVE_MAX = Duration.ofSeconds(90);

  private static final Duration RELOAD_PACE = Duration.ofSeconds(1);

  /** Part of a command that starts beside the server. */
  @FunctionalInterface
  interface SideService {
    /**
     * Serving has begun: starts what is beside it, and tells where to ask.
     *
     * @param seconds it took
     */
    void started(Serving serving, Deployment settings, double seconds);
  }

  int until(SideService sideService) throws IOException, InterruptedException {
    long begunNanos = System.nanoTime();
    var configuration = options.configuration(environment);
    var settings = configuration.read();
    var folder = CacheFolder.usual(environment, Path.of(System.getProperty("user.home")));
    var stopRequested = new CountDownLatch(1);
    var lost = new AtomicBoolean();
    try (var log = new ServeLog(err, settings.files().log())) {
      try (var _ = Interrupt.of(stopRequested::countDown, stopMax(settings));
          var _ = HeapKeeper.start();
          var _ = HeapWatchdog.start(() -> Runtime.getRuntime().halt(HeapWatchdog.EXIT_CODE));
          var serving = Serving.of(settings, folder, version);
          var _ = new Reload(configuration, settings, serving, RELOAD_PACE, log::log)) {
        double seconds = (System.nanoTime() - begunNanos) / 1e9;
        sideService.started(serving, settings, seconds);
        serving
            .embedded()
            .ifPresent(
                own ->
                    own.group()
                        .whenGivenUp(
                            () -> {
                              lost.set(true);
                              stopRequested.countDown();
                            }));
        warn(settings, log);
        stopRequested.await();
        log.log("finishing the requests in flight …");
        serving.drain();
      }
      if (lost.get()) log.warn("the GPU is lost: restart this process.");
      log.log("stopped.");
    }
    return lost.get() ? ExitCode.UNAVAILABLE : ExitCode.OK;
  }

  private static Duration stopMax(Deployment settings) {
    return settings.listen().restart().time().plus(SAVE_MAX);
  }

  private void warn(Deployment settings, ServeLog log) {
    if (settings.listen().isOpenToAnybody()) {
      log.warn("the API is open to anybody who can reach this machine; see --api-keys.");
    }
    if (options.showsWorkerKey()) {
      log.warn(
          "every user of this machine can read --worker-key in the list of processes;"
              + " give it as env:NAME or file:PATH.");
    }
  }
}
