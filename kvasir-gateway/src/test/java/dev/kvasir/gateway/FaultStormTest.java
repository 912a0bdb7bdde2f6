package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.kvasir.Nullable;
import dev.kvasir.Records;
import dev.kvasir.gateway.Plan.Break;
import dev.kvasir.gateway.Plan.Fault;
import dev.kvasir.net.Json;
import dev.kvasir.net.server.Eventually;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many streams through workers that die in every way at every place. */
@Timeout(300)
@Tag("all")
class FaultStormTest {
  private static final int SCALE = Integer.getInteger("kvasir.scale", 1);
  private static final int STREAMS = SCALE == 1 ? 2_000 : 5_000 * SCALE;
  private static final int AT_ONCE = 64;
  private static final long SEED = 20_261_116;
  private static final int STALLS_ONE_IN = 100;

  /** Long enough for a machine that has other things to do. */
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  /** Ways in which a stream ends for its caller. */
  private enum End {
    WHOLE,
    ERROR_EVENT,
    ERROR_STATUS,
    RESET
  }

  private final Map<End, Integer> ends = new ConcurrentHashMap<>();
  private final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();

  @Test
  void noStreamIsCutInSilenceAndNoTokenComesTwice() throws Exception {
    var random = new SplittableRandom(SEED);
    var slots = new Semaphore(AT_ONCE);
    try (var scene = new Scene()) {
      scene.reopen(
          s -> s.with(Records.with(s.failures(), "firstTime", PATIENCE, "silenceTime", PATIENCE)));
      for (int i = 0; i < STREAMS; i++) {
        var plan = plan(random, i);
        slots.acquire();
        var _ =
            scene
                .client
                .sendAsync(scene.streamRequest(plan), BodyHandlers.ofString())
                .whenComplete(
                    (answer, failure) -> {
                      judge(plan, answer, failure);
                      slots.release();
                    });
      }
      slots.acquire(AT_ONCE);
      scene.assertBooksAreEmpty();
      Eventually.ends(() -> scene.streaming() > 0);
    }
    if (!wrong.isEmpty()) fail("seed " + SEED + ": " + wrong.size() + " wrong, " + wrong.peek());
    assertThat(ends.get(End.WHOLE)).isNotNull().isGreaterThan(STREAMS / 5);
    assertThat(ends.get(End.ERROR_EVENT)).isNotNull().isGreaterThan(STREAMS / 10);
    System.out.println("seed " + SEED + ", " + STREAMS + " streams ended " + ends);
  }

  private static Plan plan(SplittableRandom random, int number) {
    var faults = Fault.values();
    var fault = faults[random.nextInt(faults.length)];
    var how = random.nextBoolean() ? Break.FIN : Break.RST;
    if (random.nextInt(STALLS_ONE_IN) == 0) how = Break.STALL;
    int tokens = 1 + random.nextInt(30);
    int after = random.nextBoolean() ? 0 : random.nextInt(tokens);
    return new Plan(fault, how, 0, 1 + random.nextInt(3), tokens, after, number);
  }

  private void judge(
      Plan plan, @Nullable HttpResponse<String> answer, @Nullable Throwable failure) {
    try {
      var end = failure == null && answer != null ? read(plan, answer) : broken(failure);
      ends.merge(end, 1, Integer::sum);
      boolean whole = end == End.WHOLE;
      // Two workers are there to try, whatever may be tried.
      if (plan.canBeSaved(2) && !whole) wrong.add(plan + " ended with " + end);
    } catch (RuntimeException | Error e) {
      wrong.add(plan + ": " + e + (answer == null ? "" : answer.body()));
    }
  }

  private static End broken(@Nullable Throwable failure) {
    var cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (cause instanceof IOException) return End.RESET;
    throw new IllegalStateException("not broken by the connection", failure);
  }

  /** Throws where tokens are missing, come twice, or the end is not one. */
  private static End read(Plan plan, HttpResponse<String> answer) {
    if (answer.statusCode() != 200) {
      if (error(answer.body())) return End.ERROR_STATUS;
      throw new IllegalStateException("status " + answer.statusCode());
    }
    int next = 0;
    End end = null;
    for (var event : answer.body().strip().split("\n\n", -1)) {
      if (end == End.WHOLE) throw new IllegalStateException("an event after the end");
      if (!event.startsWith("data: ")) throw new IllegalStateException("no event: " + event);
      var text = event.substring("data: ".length());
      if (text.equals("[DONE]")) {
        if (end == null) end = End.WHOLE;
      } else if (error(text)) {
        end = End.ERROR_EVENT;
      } else if (!text.contains("usage") && number(text) != next++) {
        throw new IllegalStateException("token " + number(text) + " for " + (next - 1));
      }
    }
    if (end == null) throw new IllegalStateException("cut in silence after " + next);
    if (end == End.WHOLE && next != plan.tokens())
      throw new IllegalStateException(next + " tokens");
    return end;
  }

  private static boolean error(String json) {
    return Json.read(json.getBytes(StandardCharsets.UTF_8)).has("error");
  }

  private static int number(String json) {
    return Json.read(json.getBytes(StandardCharsets.UTF_8)).path("n").asInt(-1);
  }
}
