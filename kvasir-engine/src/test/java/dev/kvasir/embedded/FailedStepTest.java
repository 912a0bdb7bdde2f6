package dev.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.Records;
import dev.kvasir.embedded.step.GenerationEnd;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.model.Architecture;
import dev.kvasir.model.CpuModel;
import dev.kvasir.model.TinyModel;
import dev.kvasir.model.gguf.TensorType;
import dev.kvasir.model.sample.SamplingSettings;
import dev.kvasir.offload.state.StoreTally;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.tiers.DiskTier;
import dev.kvasir.tiers.EdgeSettings;
import dev.kvasir.tiers.GuardSettings;
import dev.kvasir.tiers.HostTier;
import dev.kvasir.tiers.TierConfig;
import dev.kvasir.tiers.TieredCacheSettings;
import dev.kvasir.tiers.host.LowerStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Prompts that are asked again after a step of theirs has failed: INV-3, INV-6 and INV-12. */
@Tag("all")
class FailedStepTest {
  private static final int SCALE = Integer.getInteger("kvasir.scale", 1);
  private static final int PROMPTS = 20;
  private static final int PROMPT_TOKENS = 40;
  private static final int ANSWER_TOKENS = 24;

  /** So many tokens of the answer belong to the prompt when it is asked again: a block more. */
  private static final int AGAIN_TOKENS = 12;

  /** A step that fails is logged with its trace. */
  private static final Logger LOG = Logger.getLogger("dev.kvasir");

  private static @Nullable Level level;

  @TempDir private Path folder;
  private final Map<String, List<Integer>> expected = new HashMap<>();
  private AheadCpuDevice device;
  private LoadedModel model;

  @BeforeAll
  static void beQuiet() {
    level = LOG.getLevel();
    LOG.setLevel(Level.OFF);
  }

  @AfterAll
  static void speakAgain() {
    LOG.setLevel(level);
  }

  @BeforeEach
  void load() throws IOException {
    var tiny = new TinyModel(Architecture.LLAMA, 5).writer(TensorType.F32);
    var file = tiny.write(folder.resolve("tiny.gguf"));
    device = new AheadCpuDevice(CpuModel.open(file, 1));
    model = LoadedModel.on(device, file, folder);
  }

  @AfterEach
  void unload() {
    model.close();
  }

  private static GenerationRequest request(String id, int[] prompt, SamplingSettings sampling) {
    return new GenerationRequest(
        id, "", prompt, ANSWER_TOKENS, ANSWER_TOKENS, sampling, List.of(), 0);
  }

  private static List<GenerationRequest> prompts() {
    var random = new SplittableRandom(3);
    var prompts = new ArrayList<GenerationRequest>();
    for (int i = 0; i < PROMPTS; i++) {
      var prompt = random.ints(PROMPT_TOKENS, 3, 250).toArray();
      prompts.add(request("p" + i, prompt, SamplingSettings.greedy()));
    }
    return prompts;
  }

  /** The answers of the model alone, while nothing else uses it. */
  private List<Integer> expected(GenerationRequest request) {
    return expected.computeIfAbsent(request.id(), _ -> Answers.alone(model, request));
  }

  /** The prompt with the beginning of its true answer: blocks that decoding filled count, too. */
  private GenerationRequest again(GenerationRequest request) {
    var answer = expected(request);
    var prompt = Arrays.copyOf(request.prompt(), PROMPT_TOKENS + AGAIN_TOKENS);
    for (int i = 0; i < AGAIN_TOKENS; i++) prompt[PROMPT_TOKENS + i] = answer.get(i);
    return request(request.id() + " again", prompt, request.sampling());
  }

  private EngineGroup group(String disk) throws IOException {
    var settings =
        EngineGroupSettings.of(2, 400, 800, 800, folder.resolve(disk), EngineSettings.DEFAULT);
    return EngineGroup.open(model, settings);
  }

  private static void settle(EngineGroup group) {
    assertThat(group.drain(Duration.ofSeconds(30))).isTrue();
    group.loop().execute(() -> group.engines().forEach(EmbeddedEngine::resume));
  }

  /** Each prompt fails at that step, and what was computed for it goes down. */
  private void failAll(EngineGroup group, int goodSteps) {
    for (var prompt : prompts()) {
      device.failAfter(goodSteps);
      var answers = Answers.of(group.engines().getFirst(), List.of(prompt));
      assertThat(answers.end(prompt.id())).isInstanceOf(GenerationEnd.Failed.class);
      // The step behind the one that fails must not be counted for the next prompt.
      settle(group);
      assertThat(device.steps().disarm()).isTrue();
    }
  }

  /** Returns how many answers are not those of the model alone. */
  private int wrong(EmbeddedEngine engine) {
    int wrong = 0;
    for (var prompt : prompts()) {
      var again = again(prompt);
      var answers = Answers.of(engine, List.of(again));
      if (!answers.tokens(again.id()).equals(expected(again))) wrong++;
    }
    return wrong;
  }

  /** 0 is the prefill, 8 fills a block, 10 comes after that. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 8, 10})
  void whatAFailedStepWasToComputeIsFoundByNobody(int goodSteps) throws IOException {
    var wrong = new int[3];
    try (var group = group("same")) {
      failAll(group, goodSteps);
      wrong[0] = wrong(group.engines().getFirst());
    }
    try (var group = group("other")) {
      failAll(group, goodSteps);
      wrong[1] = wrong(group.engines().getLast());
    }
    try (var group = group("restarted")) {
      failAll(group, goodSteps);
    }
    try (var group = group("restarted")) {
      wrong[2] = wrong(group.engines().getFirst());
    }
    System.out.printf(
        "FailedStepTest after %d good steps: wrong answers of %d on the same engine, on another"
            + " one, after a restart: %s%n",
        goodSteps, PROMPTS, Arrays.toString(wrong));
    assertThat(wrong).containsOnly(0);
  }

  /** The device begins the first step when the launch of the second has failed. */
  @Test
  void aLaunchThatFailsIsToldBehindTheStepThatIsOnItsWay() throws IOException {
    var prompt = prompts().getFirst();
    try (var group = group("launch")) {
      device.launches().failAfter(1, CallFaults.Manner.THROWS);
      device.device().execute(device.launches()::awaitFailure);
      var answers = Answers.of(group.engines().getFirst(), List.of(prompt));
      assertThat(answers.end(prompt.id())).isInstanceOf(GenerationEnd.Failed.class);
      assertThat(answers.tokens(prompt.id())).isEqualTo(expected(prompt).subList(0, 1));
    }
  }

  @ParameterizedTest
  @EnumSource
  void whicheverCallFailsTheSamePromptsGetTheirAnswersEverywhere(CallFaults.Manner manner)
      throws IOException {
    int calls = 0;
    boolean failed = true;
    // Only stores fail in two manners.
    int stride = SCALE == 1 && manner == CallFaults.Manner.ANSWERS ? 4 : 1;
    for (var request : requests()) expected(request);
    while (failed) {
      var disk = folder.resolve(manner + " " + calls);
      try (var group = counted(disk)) {
        device.calls().failAfter(calls, manner);
        answerAll(group, group.engines().getFirst());
        settle(group);
        answerAll(group, group.engines().getLast());
        failed = device.calls().disarm();
        checkAll(group, calls);
      }
      try (var group = counted(disk)) {
        checkAll(group, calls);
      }
      calls += failed ? stride : 0;
    }
    System.out.printf("FailedStepTest: each of %d calls failed once, %s%n", calls, manner);
    assertThat(calls).isGreaterThan(30);
    assertThat(device.calls().mistakes()).isEmpty();
  }

  private EngineGroup counted(Path disk) throws IOException {
    var lower = new CountedDisk(Records.with(DiskTier.DEFAULT, "blocks", 200), device.calls());
    var tiers =
        new TieredCacheSettings(Records.with(HostTier.DEFAULT, "blocks", 100), List.of(lower));
    return EngineGroup.open(
        model, new EngineGroupSettings(2, 40, tiers, disk, EngineSettings.of(4, 64)));
  }

  /** The prompts while calls fail: two that begin alike, and one whose tokens the host draws. */
  private static List<GenerationRequest> requests() {
    var random = new SplittableRandom(4);
    var first = random.ints(PROMPT_TOKENS, 3, 250).toArray();
    var second = Arrays.copyOf(first, PROMPT_TOKENS + 5);
    var drawn = Records.with(SamplingSettings.seeded(0.9, 7), "topK", 20);
    var requests = new ArrayList<GenerationRequest>();
    requests.add(shorter("first", first, 10, SamplingSettings.greedy()));
    requests.add(shorter("second", second, 4, SamplingSettings.greedy()));
    if (SCALE > 1) requests.add(shorter("third", random.ints(90, 3, 250).toArray(), 20, drawn));
    else requests.add(shorter("third", random.ints(20, 3, 250).toArray(), 3, drawn));
    return requests;
  }

  private static GenerationRequest shorter(
      String id, int[] prompt, int tokens, SamplingSettings sampling) {
    return new GenerationRequest(id, "", prompt, tokens, tokens, sampling, List.of(), 0);
  }

  /** Checks that every answer is right, and that nothing is held afterwards. */
  private void answerAll(EngineGroup group, EmbeddedEngine engine) {
    var answers = Answers.of(engine, requests());
    for (var request : requests()) {
      var tokens = answers.tokens(request.id());
      var expected = expected(request);
      assertThat(tokens).as(request.id()).isEqualTo(expected.subList(0, tokens.size()));
      if (answers.end(request.id()) instanceof GenerationEnd.Full) {
        assertThat(tokens).hasSameSizeAs(expected);
      }
    }
    settle(group);
    for (var each : group.engines()) assertThat(each.load().blocksUsed()).isZero();
  }

  private void checkAll(EngineGroup group, int call) {
    for (var engine : group.engines()) {
      var answers = Answers.of(engine, requests());
      for (var request : requests()) {
        assertThat(answers.tokens(request.id()))
            .as("call %s fails, %s on %s", call, request.id(), engine.name())
            .isEqualTo(expected(request));
      }
    }
    settle(group);
    for (var engine : group.engines()) assertThat(engine.load().blocksUsed()).isZero();
  }

  /** A disk each of whose calls is counted. */
  private record CountedDisk(DiskTier disk, CallFaults calls) implements TierConfig.Below {
    @Override
    public int blocks() {
      return disk.blocks();
    }

    @Override
    public TierConfig withBlocks(int count) {
      return this;
    }

    @Override
    public Tier tier() {
      return disk.tier();
    }

    @Override
    public EdgeSettings edge() {
      return disk.edge();
    }

    @Override
    public GuardSettings guard() {
      return disk.guard();
    }

    @Override
    public String place(@Nullable Path folder) {
      return disk.place(folder);
    }

    @Override
    public LowerStore open(Opening opening) throws IOException {
      var store = disk.open(opening);
      return new CountedStore(store, calls.of(store));
    }
  }

  private record CountedStore(LowerStore store, TierStore counted) implements LowerStore {
    @Override
    public int queueMax() {
      return store.queueMax();
    }

    @Override
    public void restore(BlockPool pool) {
      store.restore(pool);
    }

    @Override
    public StoreTally tally(Tier tier) {
      return store.tally(tier);
    }

    @Override
    public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      counted.store(copies, done);
    }

    @Override
    public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      counted.load(copies, done);
    }

    @Override
    public void close() {
      store.close();
    }
  }
}
