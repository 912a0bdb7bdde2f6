package dev.kvasir.net.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.net.Network;
import dev.kvasir.net.Refused;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class BodyShareTest {
  private static final int LARGE = 1 << 20;

  private final Network network = Network.open(1);
  private final Bodies bodies = new Bodies(8L * LARGE);
  private final CountDownLatch wait = new CountDownLatch(1);
  private final AtomicInteger begun = new AtomicInteger();

  @AfterEach
  void close() {
    network.close();
  }

  private Future<Integer> work(BodyShare share) {
    return share.work(
        network.vertx().getOrCreateContext(),
        LARGE,
        () -> {
          int number = begun.incrementAndGet();
          wait.await();
          return number;
        });
  }

  @Test
  void whatIsOverGivesItsBytesBackWhenWorkOverThemHasEnded() throws InterruptedException {
    var share = bodies.share("eve");
    share.reserve(LARGE);
    var work = work(share);
    Eventually.ends(() -> begun.get() == 0);
    share.end();
    assertThat(bodies.reserved()).isEqualTo(LARGE);
    wait.countDown();
    Network.await(work);
    assertThat(bodies.reserved()).isZero();
    assertThatThrownBy(() -> share.reserve(1)).isInstanceOf(Refused.class);
    assertThatThrownBy(() -> Network.await(work(share))).isInstanceOf(Refused.class);
    assertThat(begun.get()).isEqualTo(1);
  }

  @Test
  void largeBodiesOfOneHolderWaitForEachOther() throws InterruptedException {
    var all = new ArrayList<Future<Integer>>();
    for (int i = 0; i < 2 * Bodies.AT_ONCE; i++) all.add(work(bodies.share("eve")));
    Eventually.ends(() -> begun.get() < Bodies.AT_ONCE);
    var context = network.vertx().getOrCreateContext();
    for (int i = 0; i < 8; i++) Network.await(bodies.share("ada").work(context, LARGE, () -> 1));
    assertThat(begun.get()).isEqualTo(Bodies.AT_ONCE);
    wait.countDown();
    Network.await(Future.all(all));
    assertThat(begun.get()).isEqualTo(2 * Bodies.AT_ONCE);
  }

  @Test
  void aShareOfOneIsNotAnothers() {
    bodies.share("eve").reserve(4L * LARGE);
    assertThatThrownBy(() -> bodies.share("eve").reserve(1)).hasMessageContaining("this caller");
    bodies.share("ada").reserve(LARGE);
    assertThatThrownBy(() -> bodies.share("bob").reserve(9L * LARGE))
        .hasMessageContaining("memory");
  }

  @Test
  void withoutALimitTheHeapSaysHowMuch() {
    assertThat(HttpLimits.DEFAULT.bodiesBytes()).isEqualTo(Runtime.getRuntime().maxMemory() / 8);
    assertThat((long) HttpLimits.DEFAULT.bodyBytes())
        .isLessThanOrEqualTo(HttpLimits.DEFAULT.bodiesBytes() / 2);
  }
}
