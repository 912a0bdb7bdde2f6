package dev.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.embedded.step.EngineMemory;
import dev.kvasir.embedded.step.Generation;
import dev.kvasir.embedded.step.GenerationEnd;
import dev.kvasir.embedded.step.GenerationListener;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.embedded.step.GenerationUsage;
import dev.kvasir.embedded.step.Piece;
import dev.kvasir.model.CpuModel;
import dev.kvasir.model.ModelShape;
import dev.kvasir.model.StepRow;
import dev.kvasir.model.sample.Sampler;
import dev.kvasir.model.sample.TokenHistory;
import dev.kvasir.tiers.host.HostMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Collects the answers of an engine by the ids of their requests. */
final class Answers implements GenerationListener {
  private static final int WAIT_SECONDS = 60;

  private final Map<String, List<Integer>> tokens = new LinkedHashMap<>();
  private final Map<String, StringBuilder> texts = new LinkedHashMap<>();
  private final Map<String, GenerationEnd> ends = new LinkedHashMap<>();
  private final Map<String, GenerationUsage> usages = new LinkedHashMap<>();
  private final CountDownLatch missing;

  Answers(int count) {
    this.missing = new CountDownLatch(count);
  }

  /** Returns the engine's answers to all of these requests, asked at once. */
  static Answers of(EmbeddedEngine engine, List<GenerationRequest> requests) {
    var answers = new Answers(requests.size());
    engine.loop().execute(() -> requests.forEach(request -> engine.submit(request, answers)));
    return answers.await();
  }

  private static CpuModel cpu(LoadedModel model) {
    if (model.device() instanceof CpuDevice(CpuModel cpu)) return cpu;
    if (model.device() instanceof AheadCpuDevice ahead) return ahead.model();
    throw new IllegalArgumentException(model.device() + " is no processor");
  }

  /** Returns the answer of the model alone, without engine, batch or cache. */
  static List<Integer> alone(LoadedModel model, GenerationRequest request) {
    var cpu = cpu(model);
    var history = new TokenHistory(cpu.shape().vocabulary());
    history.prompt(request.prompt());
    int blocks = ModelShape.blocks(request.prompt().length + request.tokensMax());
    try (var memory = new HostMemory("alone", blocks, cpu.shape().kvBytesPerBlock())) {
      return alone(cpu, memory, history, request, model.served().tokenizer().endOfTurn());
    }
  }

  private static List<Integer> alone(
      CpuModel cpu, HostMemory memory, TokenHistory history, GenerationRequest request, int end) {
    var slots = new int[memory.blocks()];
    Arrays.setAll(slots, i -> slots.length - 1 - i);
    var logits = new float[1][cpu.shape().vocabulary()];
    var sampler = new Sampler(cpu.shape().vocabulary());
    var answer = new ArrayList<Integer>();
    var next = request.prompt();
    int position = 0;
    while (answer.size() < request.tokensMax()) {
      cpu.forward(
          List.of(new StepRow(next, position, slots, true)), new EngineMemory(memory), logits);
      position += next.length;
      int token = sampler.choose(logits[0], request.sampling(), history, position).token();
      history.answer(token);
      answer.add(token);
      next = new int[] {token};
      if (token == end && answer.size() >= request.tokensMin()) break;
    }
    return answer;
  }

  Answers await() {
    try {
      assertThat(missing.await(WAIT_SECONDS, TimeUnit.SECONDS))
          .as("%s answers are missing", missing.getCount())
          .isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return this;
  }

  List<Integer> tokens(String id) {
    return tokens.getOrDefault(id, List.of());
  }

  String text(String id) {
    return texts.getOrDefault(id, new StringBuilder()).toString();
  }

  GenerationEnd end(String id) {
    return Objects.requireNonNull(ends.get(id), id);
  }

  GenerationUsage usage(String id) {
    return Objects.requireNonNull(usages.get(id), id);
  }

  int preemptions() {
    return usages.values().stream().mapToInt(GenerationUsage::preemptions).sum();
  }

  int cachedTokens() {
    return usages.values().stream().mapToInt(GenerationUsage::cachedTokens).sum();
  }

  @Override
  public void grown(Generation generation, Piece piece) {
    var id = generation.request().id();
    tokens.computeIfAbsent(id, _ -> new ArrayList<>()).add(piece.choice().token());
    texts.computeIfAbsent(id, _ -> new StringBuilder()).append(piece.text());
  }

  @Override
  public void ended(Generation generation, GenerationEnd end) {
    var id = generation.request().id();
    var before = ends.put(id, end);
    if (before != null) throw new IllegalStateException(id + " ended twice: " + before);
    usages.put(id, generation.usage());
    missing.countDown();
  }
}
