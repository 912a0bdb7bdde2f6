package dev.kvasir.cli.calibrate;

import dev.kvasir.Nullable;
import dev.kvasir.net.Network;
import dev.kvasir.tools.doctor.ReportedKvMemory;
import dev.kvasir.tools.load.GeneratedText;
import dev.kvasir.tools.load.LoadCapture;
import dev.kvasir.tools.load.LoadDriver;
import dev.kvasir.tools.load.LoadReport;
import dev.kvasir.tools.load.LoadRequest;
import dev.kvasir.tools.load.LoadSettings;
import dev.kvasir.tools.load.LoadTargets;
import dev.kvasir.tools.load.OpenAiTarget;
import dev.kvasir.tools.load.Pacing;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Loads a server in ways that tell its times apart, each for a quarter of the budget.
 *
 * <pre>
 *   alone    one caller, prompts of all lengths    a prompt's time, and what the server adds
 *   decode   16 callers, long answers              a step's time by the rows in it
 *   crowd    64 callers, middling prompts          batches of both, and the queue
 *   open     Poisson, 0.6 of the crowd's tokens    how they mix at an ordinary load
 * </pre>
 */
final class Probes {
  private static final int PHASES = 4;
  private static final int DECODERS = 16;
  private static final int CROWD = 64;
  private static final int OPEN_MAX = 512;
  private static final int ANSWER_MAX = 200;

  /** Tokenizers with few entries have more than one token for some of the words. */
  private static final double TOKENS_PER_WORD_MAX = 1.5;

  private static final double OPEN_SHARE = 0.6;
  private static final Duration TIMEOUT = Duration.ofMinutes(5);
  private static final String ALGORITHM = "L64X128MixRandom";

  private final Network network;
  private final OpenAiTarget target;
  private final Duration budget;
  private final int promptTokensMax;
  private final RandomGenerator random;
  private final @Nullable ReportedKvMemory memory;
  private final PrintWriter err;

  Probes(
      Network network,
      OpenAiTarget target,
      Duration budget,
      int promptTokensMax,
      long seed,
      @Nullable ReportedKvMemory memory,
      PrintWriter err) {
    if (budget.toSeconds() < PHASES || promptTokensMax < PHASES) {
      throw new IllegalArgumentException(
          "a budget of " + budget.toSeconds() + " s and prompts of " + promptTokensMax);
    }
    this.network = network;
    this.target = target;
    this.budget = budget;
    this.promptTokensMax = promptTokensMax;
    this.random = RandomGeneratorFactory.of(ALGORITHM).create(seed);
    this.memory = memory;
    this.err = err;
  }

  /** Words of prompts that fit into such a context beside an answer; 0 for an unknown one. */
  static int fitting(int promptTokensMax, int contextTokens) {
    if (contextTokens <= 0) return promptTokensMax;
    int words = (int) ((contextTokens - ANSWER_MAX) / TOKENS_PER_WORD_MAX);
    return Math.clamp(words, PHASES, promptTokensMax);
  }

  /** One way to load the server. */
  private record Phase(String name, Pacing pacing, List<Integer> prompts, int outputTokens) {}

  /** Loads the server, and leaves a capture of each phase in the folder. */
  List<Path> run(Path folder) throws IOException, InterruptedException {
    var all =
        List.of(promptTokensMax / 64, promptTokensMax / 16, promptTokensMax / 4, promptTokensMax);
    var captures = new ArrayList<Path>();
    run(new Phase("alone", new Pacing.Closed(1), all, 32), 0, folder, captures);
    var few = List.of(Math.max(1, promptTokensMax / 32));
    run(new Phase("decode", new Pacing.Closed(DECODERS), few, ANSWER_MAX), 0, folder, captures);
    var some = List.of(Math.max(1, promptTokensMax / 8));
    var crowd = run(new Phase("crowd", new Pacing.Closed(CROWD), some, 64), 0, folder, captures);
    double rate = openRate(crowd.perSecond(crowd.completed()), some, all);
    if (rate > 0) {
      run(new Phase("open", new Pacing.Open(OPEN_MAX), all, 64), rate, folder, captures);
    }
    return captures;
  }

  /** Requests a second by which the server computes 0.6 of the prompt tokens that it can. */
  static double openRate(double crowdRate, List<Integer> crowd, List<Integer> open) {
    return OPEN_SHARE * crowdRate * Math.min(1, mean(crowd) / mean(open));
  }

  private static double mean(List<Integer> prompts) {
    return prompts.stream().mapToInt(Integer::intValue).average().orElseThrow();
  }

  private LoadReport run(Phase phase, double rate, Path folder, List<Path> captures)
      throws IOException, InterruptedException {
    var file = folder.resolve(phase.name() + ".jsonl");
    var settings =
        new LoadSettings(
            target, phase.pacing(), budget.dividedBy(PHASES), TIMEOUT, LoadTargets.NONE);
    try (var capture = LoadCapture.to(file);
        var driver = new LoadDriver(network, settings, requests(phase, rate), capture)) {
      if (memory != null) capture.head(memory.captureHead());
      var report = driver.start().get();
      err.printf(
          Locale.ROOT,
          "kvasir: %-6s  %d of %d answered in %.0f s%n",
          phase.name(),
          report.completed(),
          report.sent(),
          report.seconds());
      for (var failure : report.failures()) {
        err.printf("kvasir: %d times %s: %s%n", failure.count(), failure.kind(), failure.example());
      }
      if (report.completed() > 0) captures.add(file);
      return report;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Without end: the time ends them. No two prompts begin alike, so that nothing is cached. */
  private Iterator<LoadRequest> requests(Phase phase, double rate) {
    return new Iterator<>() {
      private double nanos;
      private int made;

      @Override
      public boolean hasNext() {
        return true;
      }

      @Override
      public LoadRequest next() {
        if (rate > 0) nanos += random.nextExponential() / rate * Duration.ofSeconds(1).toNanos();
        int words = Math.max(1, phase.prompts().get(made++ % phase.prompts().size()));
        long seed = random.nextLong();
        return new LoadRequest((long) nanos, () -> prompt(seed, words), phase.outputTokens(), "");
      }
    };
  }

  private static String prompt(long seed, int words) {
    return GeneratedText.of(RandomGeneratorFactory.of(ALGORITHM).create(seed)::nextLong, words);
  }
}
