package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.gateway.Plan.Break;
import dev.kvasir.gateway.Plan.Fault;
import dev.kvasir.gateway.worker.Connector;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.router.flow.RetryRules;
import dev.kvasir.router.placement.RouteClass;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** Requests whose prefill one worker does for another. */
@Timeout(180)
class SplitTest {
  private static final String MORE =
      "\"stream\":true,\"stream_options\":{\"include_usage\":true},\"max_tokens\":9,\"n\":1,"
          + "\"stop\":[\"x\"],\"kv_transfer_params\":{\"remote_host\":\"evil\"},"
          + "\"messages\":[{\"role\":\"user\",\"content\":\"hello, this is a prompt\"}]";

  private Scene scene = open(Connector.NIXL, UnaryOperator.identity());

  private static Scene open(Connector connector, UnaryOperator<GatewaySettings> change) {
    return new Scene(
        worker -> worker.by(connector, "127.0.0.1:" + worker.port()),
        settings -> change.apply(heavy(settings)));
  }

  /** Every request is split. */
  private static GatewaySettings heavy(GatewaySettings settings) {
    var router = settings.routing().settings().withClasses(new RouteClass.Limits(0, 0, 0));
    return settings.with(settings.routing().with(router).by("round-robin", "always"));
  }

  private void reopen(Connector connector, UnaryOperator<GatewaySettings> change) {
    scene.close();
    scene = open(connector, change);
  }

  @AfterEach
  void stop() throws Exception {
    scene.assertBooksAreEmpty();
    scene.close();
  }

  @Test
  void byNixlTheDecodeIsToldWhatThePrefillAnswered() {
    var answer = scene.chat(Plan.GOOD, MORE);
    assertThat(answer.body()).endsWith("data: [DONE]\n\n");
    assertThat(answer.headers().firstValue("x-kvasir-route-class")).contains("HEAVY_P2P");
    assertThat(answer.headers().firstValue("x-kvasir-reason")).contains("forced");
    var prefill = seenWith("do_remote_decode").body();
    assertThat(prefill.path("stream").asBoolean()).isFalse();
    assertThat(prefill.path("max_tokens").asInt()).isEqualTo(1);
    assertThat(prefill.path("ignore_eos").asBoolean()).isTrue();
    assertThat(prefill.path("stop").size()).isZero();
    assertThat(prefill.has("stream_options")).isFalse();
    var decode = seenWith("do_remote_prefill");
    assertThat(decode.text())
        .contains(
            "\"kv_transfer_params\":{\"do_remote_prefill\":true,\"remote_block_ids\":[[1,2]],")
        .contains("\"max_tokens\":9")
        .doesNotContain("evil");
    assertThat(scene.seen()).hasSize(2);
  }

  @Test
  void whenThePrefillFailsTheDecoderPrefills() {
    for (var fault : List.of(Fault.BEFORE_HEAD, Fault.ERROR, Fault.BUSY)) {
      var plan = Plan.failing(fault, Break.RST, 1, 0);
      var answer = scene.chat(plan, MORE);
      assertThat(answer.body()).as(fault.name()).endsWith("data: [DONE]\n\n");
      assertThat(answer.headers().firstValue("x-kvasir-reason"))
          .contains("offload_failed_fallback_colo");
      assertThat(answer.headers().firstValue("x-kvasir-attempts")).contains("1");
    }
  }

  @Test
  void whenTheDecoderCannotUseItTheDecoderPrefills() {
    for (var fault : List.of(Fault.ERROR, Fault.ERROR_EVENT)) {
      var answer = scene.chat(Plan.failing(fault, Break.FIN, 1, 0).after(1), MORE);
      assertThat(answer.body()).as(fault.name()).endsWith("data: [DONE]\n\n");
      assertThat(answer.body()).contains("{\"n\":7,");
      assertThat(answer.headers().firstValue("x-kvasir-reason"))
          .contains("kv_pull_failed_recompute");
    }
  }

  @Test
  void whenTheDecoderDiesThePrefillerDecodesFromItsOwnCache() {
    var plan = Plan.failing(Fault.BEFORE_HEAD, Break.RST, 1, 0).after(1);
    var answer = scene.chat(plan, MORE);
    assertThat(answer.body()).endsWith("data: [DONE]\n\n");
    assertThat(answer.headers().firstValue("x-kvasir-attempts")).contains("2");
    assertThat(scene.seen().stream().filter(seen -> !isSplit(seen))).hasSize(1);
  }

  @Test
  void whenTheDecoderDiesAThirdGetsWhatWasPrefilled() {
    try (var third = ScriptedWorker.start(scene.network, scene.attempts)) {
      scene.reopen(settings -> heavy(with(third.worker().by(Connector.NIXL, ""), settings)));
      var plan = Plan.failing(Fault.BEFORE_HEAD, Break.RST, 1, 0).after(1);
      assertThat(scene.chat(plan, MORE).body()).endsWith("data: [DONE]\n\n");
      var all = Stream.concat(scene.seen().stream(), third.seen().stream()).toList();
      assertThat(all).hasSize(3).allMatch(SplitTest::isSplit);
      var engines = all.stream().map(seen -> params(seen).path("remote_engine_id").asString(""));
      assertThat(engines.filter(engine -> !engine.isEmpty()).distinct()).hasSize(1);
      scene.reopen(UnaryOperator.identity());
    }
  }

  private static GatewaySettings with(Worker worker, GatewaySettings settings) {
    var workers = Stream.concat(settings.workers().stream(), Stream.of(worker)).toList();
    return Records.with(settings, "workers", workers);
  }

  @Test
  void inStrictModeAFailedPrefillFailsTheRequest() {
    reopen(
        Connector.NIXL, s -> s.with(Records.with(s.failures(), "split", RetryRules.Split.STRICT)));
    var answer = scene.chat(Plan.failing(Fault.ERROR, Break.FIN, 1, 0), MORE);
    assertThat(answer.statusCode()).isEqualTo(502);
    assertThat(scene.seen()).hasSize(1);
  }

  @Test
  void whatCannotBeSplitIsNot() {
    for (var more : List.of("\"n\":2", "\"prompt\":[\"a\",\"b\"]", "\"echo\":true")) {
      var answer = scene.post("/v1/completions", Scene.body(Plan.GOOD, more));
      assertThat(answer.statusCode()).isEqualTo(200);
    }
    assertThat(scene.seen()).hasSize(3).noneMatch(SplitTest::isSplit);
  }

  @Test
  void byMooncakeBothAreToldTheSameTransfer() {
    reopen(Connector.MOONCAKE, UnaryOperator.identity());
    var answer = scene.chat(Plan.GOOD, MORE);
    assertThat(answer.body()).endsWith("data: [DONE]\n\n");
    var prefill = params(seenWith("do_remote_decode"));
    var decode = params(seenWith("do_remote_prefill"));
    assertThat(prefill.path("transfer_id").asString()).startsWith("xfer-");
    assertThat(decode.path("transfer_id")).isEqualTo(prefill.path("transfer_id"));
    assertThat(decode.path("remote_engine_id").asString()).startsWith("engine-");
    assertThat(decode.path("remote_bootstrap_addr").asString()).startsWith("http://127.0.0.1:");
  }

  @Test
  void bySglangBothAreToldTheSameRoom() {
    reopen(Connector.SGLANG, UnaryOperator.identity());
    var answer = scene.chat(Plan.GOOD, MORE);
    assertThat(answer.body()).endsWith("data: [DONE]\n\n");
    var rooms = scene.seen().stream().map(s -> s.body().path("bootstrap_room").asLong()).toList();
    assertThat(rooms).hasSize(2).doesNotContain(0L);
    assertThat(rooms.stream().distinct()).hasSize(1);
  }

  /** Prefill and decode come at once, so either of them may be the one that fails. */
  @Test
  void whenOneOfTwoAtOnceFailsTheAnswerIsStillWhole() {
    reopen(Connector.MOONCAKE, UnaryOperator.identity());
    for (var fault : List.of(Fault.BEFORE_HEAD, Fault.ERROR, Fault.AFTER_HEAD)) {
      var answer = scene.chat(Plan.failing(fault, Break.FIN, 1, 0), MORE);
      assertThat(answer.body()).as(fault.name()).endsWith("data: [DONE]\n\n");
    }
  }

  private ScriptedWorker.Seen seenWith(String role) {
    return scene.seen().stream()
        .filter(seen -> params(seen).path(role).asBoolean(false))
        .findFirst()
        .orElseThrow();
  }

  private static JsonNode params(ScriptedWorker.Seen seen) {
    return seen.body().path("kv_transfer_params");
  }

  private static boolean isSplit(ScriptedWorker.Seen seen) {
    return !params(seen).isMissingNode();
  }
}
