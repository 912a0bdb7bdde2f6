package dev.kvasir.bench;

import de.kherud.llama.InferenceParameters;
import de.kherud.llama.LlamaModel;
import de.kherud.llama.ModelParameters;
import dev.kvasir.embedded.EngineGroup;
import dev.kvasir.embedded.EngineGroupSettings;
import dev.kvasir.embedded.LoadedModel;
import dev.kvasir.embedded.step.Generation;
import dev.kvasir.embedded.step.GenerationEnd;
import dev.kvasir.embedded.step.GenerationListener;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.embedded.step.Piece;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.model.BuiltInModel;
import dev.kvasir.model.ModelShape;
import dev.kvasir.model.sample.SamplingSettings;
import dev.kvasir.tiers.TieredCacheSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;

/**
 * Measures how fast 32 callers who ask at once behind one shared prefix get their answers: our
 * engine beside llama.cpp, on the same file and with as many threads, in turns.
 *
 * <p>The first time somebody has asked with the prefix before. The second time all of them have, so
 * that llama.cpp, which keeps a cache for each caller, has it in all of its caches. Its attention
 * goes over what all callers have cached: the longer the prefix, the further it is behind.
 */
public final class BatchBench implements AutoCloseable {
  private static final int CALLERS = 32;
  private static final int PREFIX_WORDS = 64;
  private static final int OWN_WORDS = 4;
  private static final int ANSWER_TOKENS = 32;
  private static final int CONTEXT_TOKENS = 1_024;
  private static final int ROUNDS = 5;
  private static final int WARMUP_ROUNDS = 1;
  private static final List<String> WORDS =
      List.of("lantern", "river", "stone", "bread", "winter", "sail", "copper", "garden", "wolf");

  private final LoadedModel model;
  private final EngineGroup group;
  private final LlamaModel llama;
  private final SplittableRandom random = new SplittableRandom(32);
  private int requests;

  /** Answers all prompts at once, and returns when the last answer is whole. */
  @FunctionalInterface
  private interface Answerer {
    void answer(List<String> prompts);
  }

  private BatchBench(Path folder, int threads) throws IOException {
    model = LoadedModel.builtIn(folder, threads);
    int blocks = CALLERS * CONTEXT_TOKENS / ModelShape.BLOCK_TOKENS;
    group =
        EngineGroup.open(
            model,
            new EngineGroupSettings(
                1, blocks, TieredCacheSettings.of(0, 0), folder, EngineSettings.DEFAULT));
    llama =
        new LlamaModel(
            new ModelParameters()
                .setModel(BuiltInModel.file(folder).toString())
                .setThreads(threads)
                .setThreadsBatch(threads)
                .setParallel(CALLERS)
                .setCtxSize(CALLERS * CONTEXT_TOKENS)
                .enableFlashAttn()
                .disableLog());
  }

  public static void main(String[] args) throws IOException {
    int threads = Runtime.getRuntime().availableProcessors();
    try (var bench = new BatchBench(Files.createTempDirectory("kvasir-batch"), threads)) {
      System.out.printf(
          "%d callers, answers of %d tokens, %d threads, tokens a second%n",
          CALLERS, ANSWER_TOKENS, threads);
      bench.run();
    }
    // A thread of llama.cpp's outlives its model, and would keep the process alive.
    System.exit(0);
  }

  private void run() {
    var first = new double[2][ROUNDS];
    var second = new double[2][ROUNDS];
    var answerers = List.<Answerer>of(this::ours, this::theirs);
    for (int round = -WARMUP_ROUNDS; round < ROUNDS; round++) {
      var prefix = words(PREFIX_WORDS);
      for (int i = 0; i < answerers.size(); i++) {
        var answerer = answerers.get(i);
        answerer.answer(List.of(prefix + words(OWN_WORDS)));
        double one = rate(answerer, prefix);
        double other = rate(answerer, prefix);
        if (round < 0) continue;
        first[i][round] = one;
        second[i][round] = other;
      }
    }
    print("prefix known to one", first);
    print("prefix known to all", second);
  }

  private double rate(Answerer answerer, String prefix) {
    var prompts = new ArrayList<String>();
    for (int i = 0; i < CALLERS; i++) prompts.add(prefix + words(OWN_WORDS));
    long begun = System.nanoTime();
    answerer.answer(prompts);
    return CALLERS * ANSWER_TOKENS * 1e9 / (System.nanoTime() - begun);
  }

  private String words(int count) {
    return random
        .ints(count, 0, WORDS.size())
        .mapToObj(i -> " " + WORDS.get(i))
        .collect(Collectors.joining());
  }

  private void ours(List<String> prompts) {
    var engine = group.engines().getFirst();
    var answers = new ArrayList<CompletableFuture<GenerationEnd>>();
    for (var prompt : prompts) {
      var tokens = model.served().tokenizer().encode(prompt);
      var request =
          new GenerationRequest(
              "r" + requests++,
              "",
              tokens,
              ANSWER_TOKENS,
              ANSWER_TOKENS,
              SamplingSettings.greedy(),
              List.of(),
              0);
      var over = new CompletableFuture<GenerationEnd>();
      engine.loop().execute(() -> engine.submit(request, whenOver(over)));
      answers.add(over);
    }
    for (var answer : answers) {
      switch (answer.join()) {
        case GenerationEnd.Full _, GenerationEnd.Stopped _ -> {}
        default -> throw new IllegalStateException("an answer ended with " + answer.join());
      }
    }
  }

  private static GenerationListener whenOver(CompletableFuture<GenerationEnd> over) {
    return new GenerationListener() {
      @Override
      public void grown(Generation generation, Piece piece) {}

      @Override
      public void ended(Generation generation, GenerationEnd end) {
        over.complete(end);
      }
    };
  }

  private void theirs(List<String> prompts) {
    try (var callers = Executors.newCachedThreadPool()) {
      for (var prompt : prompts) callers.execute(() -> generate(prompt));
    }
  }

  private void generate(String prompt) {
    var parameters =
        new InferenceParameters(prompt)
            .setTemperature(0)
            .setNPredict(ANSWER_TOKENS)
            .setIgnoreEos(true)
            .setCachePrompt(true);
    var _ = llama.complete(parameters);
  }

  private static void print(String name, double[][] rates) {
    System.out.printf(
        Locale.ROOT,
        "%s: %.0f, llama.cpp %.0f, ratio %.2f%n",
        name,
        Median.of(rates[0]),
        Median.of(rates[1]),
        Median.ratio(rates[0], rates[1]));
  }

  @Override
  public void close() {
    llama.close();
    group.close();
    model.close();
  }
}
