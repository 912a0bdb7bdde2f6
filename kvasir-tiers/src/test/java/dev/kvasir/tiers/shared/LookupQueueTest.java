package dev.kvasir.tiers.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.tiers.host.Caller;
import dev.kvasir.tiers.host.Quiet;
import dev.kvasir.tiers.host.TestBlocks;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class LookupQueueTest {
  private final CountDownLatch gate = new CountDownLatch(1);
  private final AtomicInteger batches = new AtomicInteger();

  @BeforeAll
  static void quiet() {
    Quiet.please();
  }

  @Test
  void asManyPromptsAsAskAtOnceAreAnsweredInFewRoundTrips() {
    var queue = new LookupQueue(this::allThere, 8, 1024);
    var answers = new ArrayList<CompletableFuture<List<Presence>>>();
    for (int i = 0; i < 200; i++) answers.add(lookUp(queue, i));
    gate.countDown();
    for (var answer : answers) assertThat(Caller.await(answer)).containsExactly(Presence.THERE);
    // Eight were under way; the others went together.
    assertThat(batches.get()).isLessThanOrEqualTo(8 + 8);
    assertThat(queue.lookups.sum()).isEqualTo(200);
    assertThat(queue.refused.sum()).isZero();
  }

  @Test
  void whatThereIsNoRoomForIsUnknownAndCounted() throws InterruptedException {
    var queue = new LookupQueue(this::allThere, 2, 3);
    var answers = new ArrayList<CompletableFuture<List<Presence>>>();
    for (int i = 0; i < 2; i++) {
      int under = i + 1;
      answers.add(lookUp(queue, i));
      // It is under way before the next one comes, or both would go together.
      Eventually.ends(() -> batches.get() < under);
    }
    for (int i = 2; i < 10; i++) answers.add(lookUp(queue, i));
    assertThat(queue.waiting()).isEqualTo(3);
    for (int i = 5; i < 10; i++) {
      assertThat(Caller.await(answers.get(i))).containsExactly(Presence.UNKNOWN);
    }
    assertThat(queue.refused.sum()).isEqualTo(5);
    gate.countDown();
    for (int i = 0; i < 5; i++) {
      assertThat(Caller.await(answers.get(i))).containsExactly(Presence.THERE);
    }
  }

  @Test
  void whoThrowsWhenAnsweredKeepsNobodyFromBeingAnswered() {
    gate.countDown();
    var queue = new LookupQueue(this::allThere, 1, 100);
    for (int i = 0; i < 3; i++) {
      queue.lookUp(
          List.of(TestBlocks.block(i)),
          _ -> {
            throw new IllegalStateException("on purpose");
          });
      assertThat(Caller.await(lookUp(queue, 10 + i))).containsExactly(Presence.THERE);
    }
  }

  @Test
  void aServerThatFailsLeavesNoQuestionWithoutAnswerAndIsAskedAgain() {
    gate.countDown();
    var down = new AtomicInteger(3);
    var queue =
        new LookupQueue(
            blocks -> {
              if (down.getAndDecrement() > 0) throw new IOException("down");
              return allThere(blocks);
            },
            1,
            100);
    for (int i = 0; i < 3; i++) {
      assertThat(Caller.await(lookUp(queue, i))).containsExactly(Presence.UNKNOWN);
    }
    assertThat(queue.failed.sum()).isEqualTo(3);
    assertThat(Caller.await(lookUp(queue, 4))).containsExactly(Presence.THERE);
  }

  @Test
  void anErrorLeavesNoQuestionWithoutAnswerEither() {
    gate.countDown();
    var broken = new AtomicInteger(3);
    var queue =
        new LookupQueue(
            blocks -> {
              if (broken.getAndDecrement() > 0) throw new NoClassDefFoundError("on purpose");
              return allThere(blocks);
            },
            1,
            100);
    for (int i = 0; i < 3; i++) {
      assertThat(Caller.await(lookUp(queue, i))).containsExactly(Presence.UNKNOWN);
    }
    assertThat(Caller.await(lookUp(queue, 4))).containsExactly(Presence.THERE);
  }

  private static CompletableFuture<List<Presence>> lookUp(LookupQueue queue, long key) {
    var answer = new CompletableFuture<List<Presence>>();
    queue.lookUp(List.of(TestBlocks.block(key)), answer::complete);
    return answer;
  }

  private Map<BlockHash, Presence> allThere(List<TokenBlock> blocks) throws InterruptedException {
    batches.incrementAndGet();
    gate.await();
    var there = new LinkedHashMap<BlockHash, Presence>();
    for (var block : blocks) there.put(block.hash(), Presence.THERE);
    return there;
  }
}
