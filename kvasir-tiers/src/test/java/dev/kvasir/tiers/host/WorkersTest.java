package dev.kvasir.tiers.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.tiers.host.CopyQueue.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class WorkersTest {
  @BeforeAll
  static void quiet() {
    Quiet.please();
  }

  @Test
  void whateverIsThrownEachCopyIsAnsweredAndItsSlotsAreFree() {
    var queue = new CopyQueue(64);
    var workers =
        new Workers(
            "test",
            1,
            queue,
            4,
            tasks -> {
              queue.answer(tasks.getFirst(), CopyOutcome.COPIED);
              throw new NoClassDefFoundError("on purpose");
            });
    try (var caller = new Caller()) {
      for (int round = 0; round < 3; round++) {
        var copies = new ArrayList<BlockCopy>();
        for (int i = 0; i < 8; i++) copies.add(new BlockCopy(TestBlocks.block(i), i, i));
        var answer = new CompletableFuture<List<CopyOutcome>>();
        queue.submit(
            Kind.LOAD, copies, new StoreCall(caller.loop, copies.size(), answer::complete));
        assertThat(Caller.await(answer))
            .noneMatch(CopyOutcome.Refused.class::isInstance)
            .anyMatch(CopyOutcome.Failed.class::isInstance)
            .contains(CopyOutcome.COPIED);
        assertThat(queue.depth()).isZero();
      }
    }
    assertThat(queue.close()).isEmpty();
    workers.join();
  }
}
