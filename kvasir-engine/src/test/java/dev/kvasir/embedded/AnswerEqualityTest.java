package dev.kvasir.embedded;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.model.PocketModel;
import dev.kvasir.model.sample.SamplingSettings;
import dev.kvasir.text.ChatMessage;
import java.io.IOException;
import java.nio.IntBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** INV-6: an answer is the same, token for token, wherever its prefix came from. */
@Tag("all")
class AnswerEqualityTest {
  private static final int TOKENS_MAX = 24;
  private static final String TEXT =
      "A lantern is a lamp with a case that shields its light from the wind. ";

  /** Answers of the model alone, by the ids and prompts of requests that several tests make. */
  private static final HashMap<List<Object>, List<Integer>> ALONE = new HashMap<>();

  private static LoadedModel model;

  @TempDir private Path folder;

  @BeforeAll
  static void load() throws IOException {
    model = LoadedModel.open("pocket", PocketModel.file(), 2);
  }

  @AfterAll
  static void unload() {
    model.close();
  }

  @Test
  void withoutAnyCache() throws IOException {
    try (var group = group(1, 400, 0, 0)) {
      check(Answers.of(group.engines().getFirst(), requests(4, 10)), requests(4, 10));
    }
  }

  @Test
  void fromDeviceMemory() throws IOException {
    try (var group = group(1, 400, 0, 0)) {
      var engine = group.engines().getFirst();
      Answers.of(engine, requests(2, 10));
      var again = Answers.of(engine, requests(2, 10));
      check(again, requests(2, 10));
      assertThat(again.usage("greedy 0").cached().on(Tier.DEVICE)).isGreaterThan(8);
    }
  }

  @Test
  void fromHostMemoryThatAnotherEngineFilled() throws IOException {
    try (var group = group(2, 400, 800, 0)) {
      Answers.of(group.engines().getFirst(), requests(2, 10));
      assertThat(settled(group)).isTrue();
      var again = Answers.of(group.engines().getLast(), requests(2, 10));
      check(again, requests(2, 10));
      assertThat(again.usage("greedy 0").cached().on(Tier.HOST)).isGreaterThan(8);
    }
  }

  @Test
  void fromDiskAfterARestart() throws IOException {
    try (var group = group(1, 400, 800, 900)) {
      Answers.of(group.engines().getFirst(), requests(2, 10));
      assertThat(group.drain(Duration.ofSeconds(30))).isTrue();
    }
    try (var group = group(1, 400, 800, 900)) {
      var again = Answers.of(group.engines().getFirst(), requests(2, 10));
      check(again, requests(2, 10));
      assertThat(again.usage("greedy 0").cached().on(Tier.DISK)).isGreaterThan(8);
    }
  }

  @Test
  void whenTheFileOfTheDiskTierIsCutOffWhileItIsUsed() throws IOException {
    try (var group = group(1, 400, 800, 900)) {
      Answers.of(group.engines().getFirst(), requests(2, 10));
      assertThat(group.drain(Duration.ofSeconds(30))).isTrue();
    }
    try (var group = group(1, 400, 800, 900);
        var file = FileChannel.open(folder.resolve("disk/blocks.kv"), StandardOpenOption.WRITE)) {
      file.truncate(0);
      var answers = Answers.of(group.engines().getFirst(), requests(2, 10));
      check(answers, requests(2, 10));
      assertThat(answers.usage("greedy 0").cached().on(Tier.DISK)).isZero();
      var disk = requireNonNull(requireNonNull(group.tiers()).disk());
      assertThat(disk.stats().damaged() + disk.stats().failed()).isPositive();
    }
  }

  @Test
  void whenPreemptedInTheMiddle() throws IOException {
    try (var group = group(1, 40, 0, 0)) {
      var requests = requests(8, 4);
      var answers = Answers.of(group.engines().getFirst(), requests);
      check(answers, requests);
      assertThat(answers.preemptions()).isPositive();
    }
  }

  @ParameterizedTest
  @EnumSource
  void howeverStepsArePlanned(PlanningSettings.Mode mode) throws IOException {
    var settings =
        EngineGroupSettings.of(
            1, 60, 0, 0, null, EngineSettings.DEFAULT.with(PlanningSettings.of(mode)));
    try (var group = EngineGroup.open(model, settings)) {
      check(Answers.of(group.engines().getFirst(), requests(8, 3)), requests(8, 3));
    }
  }

  @Test
  void inABatchOf32() throws IOException {
    try (var group = group(1, 800, 0, 0)) {
      check(Answers.of(group.engines().getFirst(), requests(16, 4)), requests(16, 4));
    }
  }

  private EngineGroup group(int engines, int deviceBlocks, int hostBlocks, int diskBlocks)
      throws IOException {
    return EngineGroup.open(
        model,
        EngineGroupSettings.of(
            engines,
            deviceBlocks,
            hostBlocks,
            diskBlocks,
            folder.resolve("disk"),
            EngineSettings.DEFAULT));
  }

  private static boolean settled(EngineGroup group) {
    boolean drained = group.drain(Duration.ofSeconds(30));
    group.loop().execute(() -> group.engines().forEach(EmbeddedEngine::resume));
    return drained;
  }

  /** So many greedy and as many sampled ones, behind a common text. */
  private static List<GenerationRequest> requests(int each, int repeats) {
    var requests = new ArrayList<GenerationRequest>();
    var chat = model.served().chat().orElseThrow();
    for (int i = 0; i < each; i++) {
      var messages =
          List.of(
              new ChatMessage(ChatMessage.Role.SYSTEM, TEXT.repeat(repeats)),
              new ChatMessage(ChatMessage.Role.USER, "What is a lantern, number " + i + "?"));
      var prompt = chat.encode(messages);
      var sampled = Records.with(SamplingSettings.seeded(0.9, 77 + i), "topK", 40, "topP", 0.95);
      requests.add(request("greedy " + i, prompt, SamplingSettings.greedy()));
      requests.add(request("sampled " + i, prompt, sampled));
    }
    return requests;
  }

  private static GenerationRequest request(String id, int[] prompt, SamplingSettings sampling) {
    return new GenerationRequest(id, "", prompt, TOKENS_MAX, TOKENS_MAX, sampling, List.of(), 0);
  }

  private static void check(Answers answers, List<GenerationRequest> requests) {
    for (var request : requests) {
      var requested = List.<Object>of(request.id(), IntBuffer.wrap(request.prompt()));
      assertThat(answers.tokens(request.id()))
          .as(request.id())
          .isEqualTo(ALONE.computeIfAbsent(requested, _ -> Answers.alone(model, request)));
    }
  }
}
