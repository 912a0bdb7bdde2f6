package dev.kvasir.gpu.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.embedded.EngineGroup;
import dev.kvasir.embedded.EngineGroupSettings;
import dev.kvasir.embedded.LoadedModel;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.StubCuda;
import dev.kvasir.gpu.folder.FolderWriter;
import dev.kvasir.gpu.model.GgufTensors;
import dev.kvasir.model.Architecture;
import dev.kvasir.model.BuiltInModel;
import dev.kvasir.model.TinyModel;
import dev.kvasir.model.gguf.GgufFile;
import dev.kvasir.model.gguf.TensorType;
import dev.kvasir.model.sample.SamplingSettings;
import dev.kvasir.net.server.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("all")
final class GpuDeviceTest {
  @TempDir Path folder;

  private static CudaAnswer.Answered ready(StubCuda stub) {
    if (stub.probe() instanceof CudaAnswer.Answered ready) return ready;
    throw new AssertionError("the stand-in does not answer");
  }

  private GpuDevice.Settings settings() {
    return new GpuDevice.Settings(8, 64, 4, folder.resolve("kernels"), GpuDevice.Weights.OF_FILE);
  }

  private Path tiny() {
    var tiny = new TinyModel(Architecture.LLAMA, 5).writer(TensorType.F32);
    return tiny.write(folder.resolve("tiny.gguf"));
  }

  @Test
  void aFolderAnswersAsTheFileDoes() throws IOException {
    var stub = StubCuda.fresh();
    var libraries = stub.libraries();
    var model = folder.resolve("pocket");
    try (var file = GgufFile.open(BuiltInModel.file(folder))) {
      FolderWriter.write(file, model, FolderWriter.NumberType.BF16, 2);
    }
    var prompt = new int[] {1, 1318, 1385, 201, 3885};
    var requests = List.of(GenerationRequest.of("r", prompt, 3, SamplingSettings.greedy()));
    var sizes = EngineGroupSettings.of(1, 8, 0, 0, null, EngineSettings.of(4, 64));
    List<Integer> right;
    try (var cpu = LoadedModel.builtIn(folder, 1);
        var group = EngineGroup.open(cpu, sizes)) {
      right = Collected.of(group.engines().getFirst(), requests).tokens.get("r");
    }
    try (var device = GpuDevice.open(ready(stub), libraries, model, settings());
        var loaded = LoadedModel.on(device, model, folder);
        var group = EngineGroup.open(loaded, sizes)) {
      assertThat(loaded.served().name()).isEqualTo("pocket");
      assertThat(loaded.served().chat()).isPresent();
      var found = Collected.of(group.engines().getFirst(), requests);
      assertThat(found.failed).isEmpty();
      assertThat(found.tokens.get("r")).isEqualTo(right);
    }
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }

  /**
   * Keeps apart the blocks that earlier versions stored, since they may be of steps that failed.
   */
  @Test
  void aBlockHasAnotherNameThanEarlierVersionsGaveIt() throws IOException {
    var stub = StubCuda.fresh();
    var model = tiny();
    String sha;
    try (var file = GgufFile.open(model)) {
      sha = new GgufTensors(file).sha256();
    }
    try (var device = GpuDevice.open(ready(stub), stub.libraries(), model, settings())) {
      assertThat(device.fingerprint())
          .startsWith("gpu-" + sha)
          .isNotEqualTo("gpu-" + sha + ", blocks of 16, bf16");
    }
  }

  @Test
  void weightsAreMadeUpWhereNoneAreWanted() throws IOException {
    var stub = StubCuda.fresh();
    var libraries = stub.libraries();
    var model = folder.resolve("shape");
    try (var file = GgufFile.open(BuiltInModel.file(folder))) {
      FolderWriter.write(file, model, FolderWriter.NumberType.BF16, 1);
    }
    Files.delete(model.resolve("model.safetensors"));
    var config = model.resolve("config.json");
    var small =
        Files.readString(config).replace("\"num_hidden_layers\":8", "\"num_hidden_layers\":1");
    Files.writeString(config, small.replace("\"vocab_size\":4096", "\"vocab_size\":64"));
    var settings =
        new GpuDevice.Settings(8, 64, 4, folder.resolve("kernels"), GpuDevice.Weights.DUMMY);
    try (var device = GpuDevice.open(ready(stub), libraries, model, settings)) {
      assertThat(device.fingerprint()).startsWith("gpu-random");
      assertThat(device.vocabulary()).isEqualTo(64);
    }
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"cuEventSynchronize", "cuGraphLaunch", "cuMemcpyHtoDAsync_v2"})
  void aLostContextFailsWaitingRequestsAndIsStartedAnew(String call)
      throws IOException, InterruptedException {
    var stub = StubCuda.fresh();
    var libraries = stub.libraries();
    var prompt = new int[] {3, 4, 5, 6, 7};
    var requests =
        List.of(
            new GenerationRequest("r", "", prompt, 3, 3, SamplingSettings.greedy(), List.of(), 0));
    var sizes = EngineGroupSettings.of(1, 8, 16, 0, null, EngineSettings.of(4, 64));
    var file = tiny();
    try (var device = GpuDevice.open(ready(stub), libraries, file, settings());
        var loaded = LoadedModel.on(device, file, folder);
        var group = EngineGroup.open(loaded, sizes)) {
      var engine = group.engines().getFirst();
      var right = Collected.of(engine, requests);
      assertThat(right.failed).isEmpty();
      stub.fail(call, 700, 1);
      var failed = Collected.of(engine, requests);
      assertThat(failed.failed).hasSize(1);
      assertThat(failed.failure()).containsAnyOf("lost its GPU", "CUDA error 700");
      Eventually.ends(engine::isBroken);
      assertThat(engine.isBroken()).isFalse();
      var again = Collected.of(engine, requests);
      assertThat(again.failed).isEmpty();
      assertThat(again.tokens).isEqualTo(right.tokens);
    }
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }

  @Test
  void whatCannotBeStartedAgainIsGivenUp() throws IOException, InterruptedException {
    var stub = StubCuda.fresh();
    var libraries = stub.libraries();
    var sizes = EngineGroupSettings.of(1, 8, 0, 0, null, EngineSettings.of(4, 64));
    var file = tiny();
    try (var device = GpuDevice.open(ready(stub), libraries, file, settings());
        var loaded = LoadedModel.on(device, file, folder);
        var group = EngineGroup.open(loaded, sizes)) {
      var givenUp = new CountDownLatch(1);
      group.whenGivenUp(givenUp::countDown);
      stub.loseForGood();
      stub.fail("cuEventSynchronize", 700, 1);
      var request = GenerationRequest.of("r", new int[] {3, 4}, 3, SamplingSettings.greedy());
      var engine = group.engines().getFirst();
      assertThat(Collected.of(engine, List.of(request)).failed).hasSize(1);
      assertThat(givenUp.await(1, TimeUnit.MINUTES)).isTrue();
      assertThat(engine.isBroken()).isTrue();
    }
  }

  @Test
  void aKernelThatGoesWrongCostsAnswersAndNotTheEngine() throws IOException {
    var stub = StubCuda.fresh();
    var check = new EngineCheck(ready(stub), stub.libraries(), folder, System.out::println);
    assertThat(check.lost(2, List.of(new int[] {1, 1318, 1385, 201, 3885}))).isEmpty();
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }

  @Test
  void tooManyBlocksAreAnErrorBeforeAnythingIsServed() throws IOException {
    var stub = StubCuda.fresh();
    var settings = new GpuDevice.Settings(1 << 20, 512, 64, folder, GpuDevice.Weights.OF_FILE);
    var file = BuiltInModel.file(folder);
    var libraries = stub.libraries();
    assertThatThrownBy(() -> GpuDevice.open(ready(stub), libraries, file, settings))
        .isInstanceOf(GpuUnavailable.class)
        .hasMessageContaining("1048576 KV blocks")
        .hasMessageContaining("--total-kv-blocks");
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }

  @Test
  void aDriverThatIsTooOldIsToBeUpdated() {
    var old = new CudaAnswer.Old("10.2", List.of("cuGraphLaunch"));
    assertThatThrownBy(() -> GpuDevice.require(old))
        .hasMessageContaining("too old")
        .hasMessageContaining("10.2")
        .hasMessageContaining("update it");
  }

  @Test
  void whereThereIsNoDriverTheErrorSaysSo() {
    assertThatThrownBy(() -> GpuDevice.require(new CudaAnswer.Absent("libcuda.so.1 not found")))
        .hasMessage("there is no NVIDIA driver: libcuda.so.1 not found");
  }
}
