package dev.kvasir.router.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.router.view.Views;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Tests that the index recovers whatever happens to the events of an instance on their way. */
class KvFeedTest {
  private static final int INSTANCE = 3;
  private static final int NAMES = 200;

  private final VirtualLoop loop = new VirtualLoop();
  private final PrefixIndex index =
      new PrefixIndex(new IndexSettings(NAMES, 100, Duration.ofSeconds(5), 1));
  private final List<Long> requested = new ArrayList<>();
  private final KvFeed<KvEvent> feed =
      new KvFeed<>(loop, KvFeed.Limits.DEFAULT, KvFeed.into(index, INSTANCE), requested::add);

  KvFeedTest() {
    index.add(INSTANCE);
  }

  @Test
  void batchesOutOfOrderAreAppliedInOrder() {
    feed.accept(0, 100, List.of(stored(1)));
    feed.accept(2, 102, List.of(removed(1)));
    assertThat(holds(1)).isTrue();
    assertThat(requested).containsExactly(1L);
    feed.accept(1, 101, List.of(stored(2)));
    assertThat(holds(1)).isFalse();
    assertThat(holds(2)).isTrue();
    loop.run(10);
    assertThat(feed.gaps()).isZero();
  }

  @Test
  void batchThatComesAgainIsIgnored() {
    feed.accept(0, 100, List.of(stored(1)));
    feed.accept(1, 101, List.of(removed(1)));
    feed.accept(0, 100, List.of(stored(1)));
    assertThat(holds(1)).isFalse();
    assertThat(feed.duplicates()).isEqualTo(1);
  }

  @Test
  void batchThatNeverComesMakesTheIndexForget() {
    feed.accept(0, 100, List.of(stored(1)));
    feed.accept(2, 102, List.of(stored(2)));
    loop.runFor(Duration.ofSeconds(2));
    assertThat(holds(1)).isFalse();
    assertThat(holds(2)).isTrue();
    assertThat(feed.gaps()).isEqualTo(1);
    assertThat(feed.waiting()).isZero();
  }

  @Test
  void numbersThatBeginAnewWithALaterStampAreAnotherLife() {
    for (int sequence = 0; sequence < 8; sequence++) {
      feed.accept(sequence, 93 + sequence, List.of(stored(1)));
    }
    feed.accept(0, 200, List.of(stored(2)));
    assertThat(holds(1)).isFalse();
    assertThat(holds(2)).isTrue();
    assertThat(feed.restarts()).isEqualTo(1);
    feed.accept(8, 101, List.of(stored(3)));
    assertThat(holds(3)).isFalse();
  }

  @Test
  void aNumberThatComesAgainWithAnotherStampIsAnotherLifeWhateverTheClockSays() {
    for (int sequence = 0; sequence < 3_000; sequence++) {
      feed.accept(sequence, 5_000 + sequence, List.of(stored(1)));
    }
    feed.accept(2_999, 7_999, List.of(stored(1)));
    feed.accept(7, 5_007, List.of(stored(1)));
    assertThat(feed.restarts()).isZero();
    // The clock of the instance went back while it was away.
    feed.accept(0, 40, List.of(stored(2)));
    feed.accept(1, 41, List.of(stored(3)));
    assertThat(feed.restarts()).isEqualTo(1);
    assertThat(holds(1)).isFalse();
    assertThat(holds(2)).isTrue();
    assertThat(holds(3)).isTrue();
  }

  @Test
  void whatWasToldIsVoidWhereNobodyCanSayWhatWasMissed() {
    feed.accept(0, 100, List.of(stored(1)));
    feed.accept(1, 101, List.of(stored(2)));
    feed.lost();
    assertThat(holds(1)).isFalse();
    // It passed its old number unseen: the batch that comes is taken at once.
    feed.accept(2, 50, List.of(stored(3)));
    assertThat(holds(3)).isTrue();
    assertThat(feed.gaps()).isEqualTo(1);
    feed.accept(4, 52, List.of(stored(4)));
    assertThat(requested).containsExactly(3L);
  }

  @Test
  void anInstanceThatToldNothingYetHoldsNothing() {
    feed.accept(0, 100, List.of(stored(1)));
    feed.beganAnew();
    assertThat(holds(1)).isFalse();
    assertThat(feed.restarts()).isEqualTo(1);
    feed.accept(0, 90, List.of(stored(2)));
    assertThat(holds(2)).isTrue();
  }

  @Test
  void waitingBatchesAreBounded() {
    var tight = new KvFeed.Limits(4, Duration.ofDays(1));
    var small = new KvFeed<KvEvent>(loop, tight, KvFeed.into(index, INSTANCE), requested::add);
    small.accept(0, 100, List.of());
    for (int sequence = 2; sequence < 9; sequence++) {
      small.accept(sequence, 100 + sequence, List.of(stored(sequence)));
      assertThat(small.waiting()).isLessThanOrEqualTo(4);
    }
    assertThat(small.gaps()).isEqualTo(1);
  }

  @Test
  void aBatchIsLeftOnceWhateverBecomesOfIt() {
    var left = new ArrayList<Integer>();
    feed.accept(0, 100, List.of(stored(1)), () -> left.add(0));
    feed.accept(0, 100, List.of(stored(1)), () -> left.add(10));
    assertThat(left).containsExactly(0, 10);
    feed.accept(2, 102, List.of(stored(1)), () -> left.add(2));
    feed.accept(3, 103, List.of(stored(1)), () -> left.add(3));
    assertThat(left).hasSize(2);
    feed.accept(3, 103, List.of(stored(1)), () -> left.add(13));
    feed.accept(1, 101, List.of(stored(1)), () -> left.add(1));
    assertThat(left).containsExactly(0, 10, 3, 1, 2, 13);
    feed.accept(6, 106, List.of(stored(1)), () -> left.add(6));
    feed.beganAnew();
    feed.accept(9, 109, List.of(stored(1)), () -> left.add(9));
    loop.runFor(KvFeed.Limits.DEFAULT.patience());
    assertThat(left).containsExactly(0, 10, 3, 1, 2, 13, 6, 9);
  }

  @Test
  void indexHealsAfterDropDuplicateReorderAndRestart() {
    Seeds.each(100 * Seeds.scale(), random -> new Channel(random, random.nextInt(2)).run());
  }

  @Test
  void nothingIsForgottenWhereEverythingIsRepeated() {
    Seeds.each(
        30 * Seeds.scale(),
        random -> {
          var channel = new Channel(random, 0);
          channel.life(400);
          channel.calm();
          assertThat(channel.feed.gaps()).isZero();
          assertThat(channel.believed()).isEqualTo(channel.truth);
        });
  }

  /** An instance, its index, and a wire that loses, repeats and turns over what it carries. */
  private static final class Channel {
    private final VirtualLoop loop = new VirtualLoop();
    private final PrefixIndex index =
        new PrefixIndex(new IndexSettings(NAMES, 100, Duration.ofSeconds(5), 1));
    private final Set<BlockHash> truth = new LinkedHashSet<>();
    private final List<List<KvEvent>> history = new ArrayList<>();
    private final List<Long> stamps = new ArrayList<>();
    private final RandomGenerator random;
    private final int deafness;
    private final KvFeed<KvEvent> feed;
    private long clock;
    private boolean faulty = true;

    /** The instance repeats what it is asked for, or with that chance in two does not. */
    Channel(RandomGenerator random, int deafness) {
      this.random = random;
      this.deafness = deafness;
      index.add(INSTANCE);
      this.feed =
          new KvFeed<>(loop, KvFeed.Limits.DEFAULT, KvFeed.into(index, INSTANCE), this::replay);
    }

    void run() {
      int lives = 1 + random.nextInt(3);
      for (int life = 0; life < lives; life++) {
        if (life > 0) restart();
        life(150 + random.nextInt(150));
      }
      calm();
      assertThat(truth).containsAll(believed());
      if (deafness == 0 && lives == 1) assertThat(believed()).isEqualTo(truth);
    }

    void life(int batches) {
      for (int i = 0; i < batches; i++) {
        publish();
        loop.runFor(Duration.ofMillis(random.nextInt(50)));
      }
    }

    /** The faults end; a few batches more tell what was missed. */
    void calm() {
      faulty = false;
      for (int i = 0; i < 5; i++) {
        publish();
        loop.runFor(Duration.ofSeconds(1));
      }
      loop.run(100_000);
    }

    private void restart() {
      truth.clear();
      history.clear();
      stamps.clear();
    }

    private void publish() {
      var events = new ArrayList<KvEvent>();
      for (int i = random.nextInt(4); i >= 0; i--) {
        int name = random.nextInt(NAMES);
        if (truth.remove(Views.hash(name))) {
          events.add(removed(name));
        } else {
          truth.add(Views.hash(name));
          events.add(stored(name));
        }
      }
      history.add(events);
      stamps.add(clock++);
      int copies = !faulty ? 1 : random.nextInt(20) == 0 ? 0 : random.nextInt(20) == 0 ? 2 : 1;
      for (int i = 0; i < copies; i++) send(history.size() - 1, random.nextInt(200));
    }

    private void send(int sequence, int delayMillis) {
      var events = history.get(sequence);
      long stamp = stamps.get(sequence);
      int delay = faulty ? delayMillis : 1;
      loop.after(Duration.ofMillis(delay), () -> feed.accept(sequence, stamp, events));
    }

    private void replay(long from) {
      if (deafness > 0 && random.nextInt(2) < deafness) return;
      for (int sequence = (int) from; sequence < history.size(); sequence++) send(sequence, 100);
    }

    Set<BlockHash> believed() {
      var held = new LinkedHashSet<BlockHash>();
      for (int name = 0; name < NAMES; name++) {
        if (index.holds(INSTANCE, Tier.DEVICE, Views.hash(name))) held.add(Views.hash(name));
      }
      return held;
    }
  }

  private boolean holds(int name) {
    return index.holds(INSTANCE, Tier.DEVICE, Views.hash(name));
  }

  private static KvEvent stored(int name) {
    return new KvEvent.Stored(Tier.DEVICE, TokenBlock.named(Views.hash(name), null, 0));
  }

  private static KvEvent removed(int name) {
    return new KvEvent.Removed(Tier.DEVICE, Views.hash(name));
  }
}
