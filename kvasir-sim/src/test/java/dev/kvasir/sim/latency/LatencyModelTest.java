package dev.kvasir.sim.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Seeds;
import dev.kvasir.sim.Shared;
import dev.kvasir.sim.latency.Shapes.Row;
import dev.kvasir.sim.latency.StepShape.Prefill;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LatencyModelTest {
  private static final Hardware H100 = HardwareTable.known().find("H100");
  private static final List<Double> CONSTANT = List.of(0.0, 0.0, 0.0, 0.0, 0.0, 10.0, 1000.0);

  @Test
  void linearStepsCutFractionsOffAndTakeAtLeastOneMicrosecond() {
    var model = LinearModel.of(List.of(0.9, 0.5, 2.9), List.of(0.3, 1.25, 0.5));
    assertThat(model.decodeMicros(1, 100)).isEqualTo(1);
    assertThat(model.stepMicros(new StepShape(List.of(new Prefill(3, 0, 8)), 2, 9))).isEqualTo(5);
    assertThat(model.queueingMicros(3)).isEqualTo(2);
    assertThat(model.outputTokenMicros()).isEqualTo(2);
    assertThat(model.afterDecodeMicros()).isZero();
  }

  @Test
  void trainedPhysicsWithConstantsAloneCountsRequests() {
    var model = physics(Shapes.DENSE, 1, List.of(200.0, 300.0, 5.0), CONSTANT);
    var shape = new StepShape(List.of(new Prefill(512, 0, 600)), 3, 900);
    assertThat(model.stepMicros(shape)).isEqualTo(1040);
    assertThat(model.decodeMicros(7, 4_000)).isEqualTo(1070);
    assertThat(model.queueingMicros(1_000_000)).isEqualTo(200);
    assertThat(model.afterDecodeMicros()).isEqualTo(300);
    assertThat(model.outputTokenMicros()).isEqualTo(5);
  }

  @Test
  void shortListsOfCoefficientsScaleTheLongerOfArithmeticAndTraffic() {
    var shape = new StepShape(List.of(new Prefill(512, 0, 600)), 64, 64_000);
    long prefillCompute = micros(shape, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    long prefillKv = micros(shape, 0, 0, 0, 0, 0, 0, 0, 0, 1);
    long decodeCompute = micros(shape, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    long decodeKv = micros(shape, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
    assertThat(micros(shape, 1, 0, 0, 0, 0, 0, 0))
        .isEqualTo(Math.max(prefillCompute, prefillKv))
        .isEqualTo(micros(shape, 1, 0, 0, 0, 0, 0, 0, 0));
    assertThat(micros(shape, 0, 1, 0, 0, 0, 0, 0))
        .isEqualTo(Math.max(decodeCompute, decodeKv))
        .isEqualTo(micros(shape, 0, 1, 0, 0, 0, 0, 0, 0, 0));
    assertThat(prefillCompute).isGreaterThan(prefillKv);
    assertThat(decodeCompute).isLessThan(decodeKv);
  }

  private static long micros(StepShape shape, double... betas) {
    var list = DoubleStream.of(betas).boxed().toList();
    return physics(Shapes.DENSE, 1, List.of(), list).stepMicros(shape);
  }

  static Stream<ModelDeployment> deployments() {
    return Stream.of(Shapes.DENSE, Shapes.MIXTURE, Shapes.INTERLEAVED)
        .flatMap(model -> Stream.of(1, 2, 4).map(gpus -> new ModelDeployment(model, H100, gpus)));
  }

  @ParameterizedTest
  @MethodSource("deployments")
  void sumsOverRowsGiveWhatRowByRowGives(ModelDeployment deployment) {
    var overhead = new RequestOverhead(0, 0, 0);
    var roofline = new RooflineModel(deployment, overhead);
    var physics = new TrainedPhysicsModel(deployment, List.of(), List.of());
    var plain = new RowByRow(deployment);
    Seeds.each(
        20,
        random -> {
          for (int i = 0; i < 200; i++) {
            var rows = Shapes.rows(random);
            var shape = Shapes.step(rows);
            assertThat(roofline.stepMicros(shape)).isEqualTo(plain.rooflineMicros(rows));
            assertThat(physics.stepMicros(shape))
                .isEqualTo(plain.physicsMicros(rows, TrainedPhysicsModel.BETAS));
            var decodes = rows.stream().filter(row -> !row.prefill()).toList();
            var alone = Shapes.step(decodes);
            for (var model : List.of(roofline, physics)) {
              assertThat(model.decodeMicros(alone.decodes(), alone.decodeContext()))
                  .isEqualTo(model.stepMicros(alone));
            }
          }
        });
  }

  @Test
  void stepsOfNothingTakeOneMicrosecond() {
    var deployment = new ModelDeployment(Shapes.DENSE, H100, 1);
    var nothing = Shapes.step(List.<Row>of());
    for (var name : List.of("roofline", "trained-physics")) {
      var model = LatencyModels.named(name, List.of(), List.of(), deployment);
      assertThat(model.stepMicros(nothing)).isEqualTo(1);
      assertThat(model.decodeMicros(0, 0)).isEqualTo(1);
    }
  }

  @Test
  void unknownNamesAndWrongNumbersOfCoefficientsSayWhatToGive() {
    var deployment = new ModelDeployment(Shapes.DENSE, H100, 1);
    var three = List.of(1.0, 2.0, 3.0);
    assertThatThrownBy(() -> LatencyModels.named("magic", List.of(), List.of(), deployment))
        .hasMessage(
            "latency model magic: no such model; known are linear, blackbox, roofline,"
                + " trained-physics");
    assertThatThrownBy(() -> LatencyModels.named("linear", three, List.of(1.0), null))
        .hasMessage("latency model linear: beta needs 3 coefficients and has 1: [1.0]");
    assertThatThrownBy(() -> LatencyModels.named("blackbox", List.of(1.0), three, null))
        .hasMessage("latency model blackbox: alpha needs 3 coefficients and has 1: [1.0]");
    assertThatThrownBy(() -> LatencyModels.named("linear", three, List.of(), null))
        .hasMessageContaining("give its betas");
    assertThatThrownBy(() -> LatencyModels.named("trained-physics", three, three, deployment))
        .hasMessageContaining("beta needs 7 to 11 coefficients and has 3");
    assertThatThrownBy(() -> LatencyModels.named("roofline", three, three, deployment))
        .hasMessageContaining("it takes no betas and has 3");
    assertThatThrownBy(() -> LatencyModels.named("roofline", three, List.of(), null))
        .hasMessageContaining("give the model's config.json and the GPU it runs on");
    assertThatThrownBy(() -> LinearModel.of(three, List.of(1.0, -2.0, 3.0)))
        .hasMessage("beta coefficient 2 is -2.0; give a number from 0 up");
  }

  @Test
  void configurationsOfModelsSayWhatTheyMiss() {
    assertThatThrownBy(() -> config("{}")).hasMessage("c.json: no num_attention_heads; add it");
    assertThatThrownBy(() -> config("[1]"))
        .hasMessage("c.json: no object; give a model's config.json");
    assertThatThrownBy(() -> config("{\"a\": ")).hasMessageStartingWith("c.json: not JSON");
    assertThatThrownBy(
            () ->
                config(
                    "{\"num_attention_heads\": 4, \"num_hidden_layers\": 2, \"hidden_size\": 64}"))
        .hasMessage("c.json: torch_dtype is \"\"; say bfloat16, float16 or float32");
  }

  @Test
  void configurationsOfQuantizedMixturesInsideATextPartAreRead() {
    var shape =
        config(
            """
            {"torch_dtype": "bfloat16", "quantization_config": {"quant_method": "compressed-tensors",
              "config_groups": {"g": {"weights": {"num_bits": 8}}}},
             "text_config": {"num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
              "num_hidden_layers": 48, "hidden_size": 5120, "intermediate_size": 8192,
              "intermediate_size_mlp": 16384, "num_local_experts": 16, "num_experts_per_tok": 1,
              "interleave_moe_layer_step": 1, "vocab_size": 202048,
              "max_position_embeddings": 10485760}}
            """);
    assertThat(shape.precision()).isEqualTo(new ModelSizes.Precision(2, 1));
    assertThat(shape.expertLayers()).isEqualTo(24);
    assertThat(shape.denseLayers()).isEqualTo(24);
    assertThat(shape.denseFeedForwardSize()).isEqualTo(16384);
    assertThat(shape.expertFeedForwardSize()).isEqualTo(8192);
    assertThat(H100.teraflops(shape.precision())).isEqualTo(1979);
  }

  @Test
  void publishedConfigurationsAreRead() throws IOException {
    var file = Shared.path("oracle/blis/configs/mixtral-8x7b.config.json");
    try (var reader = Files.newBufferedReader(file)) {
      var shape = ModelConfigFile.read(reader, "mixtral-8x7b.config.json");
      assertThat(shape.feedForward()).isEqualTo(Shapes.MIXTURE.feedForward());
      assertThat(shape.attention()).isEqualTo(Shapes.MIXTURE.attention());
      assertThat(shape.vocabulary()).isEqualTo(new ModelSizes.Vocabulary(32000, 2, 32768));
    }
  }

  @Test
  void unknownGpusNameTheKnownOnes() {
    assertThatThrownBy(() -> HardwareTable.known().find("H1000"))
        .hasMessage(
            "no GPU named H1000; known are H100, H200, B200, MI300X, A100-SXM, A100-80, A100,"
                + " L40S");
    assertThatThrownBy(
            () -> HardwareTable.read(new StringReader("{\"X\": {\"TFlopsPeak\": 5}}"), "hw.json"))
        .hasMessage("hw.json: BwPeakTBs of X is 0.0; give a number above 0");
  }

  private static ModelSizes config(String json) {
    return ModelConfigFile.read(new StringReader(json), "c.json");
  }

  private static LatencyModel physics(
      ModelSizes shape, int gpus, List<Double> alphas, List<Double> betas) {
    return new TrainedPhysicsModel(new ModelDeployment(shape, H100, gpus), alphas, betas);
  }
}
