package dev.kvasir.router.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Seeds;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.router.view.Views;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class PrefixIndexTest {
  private static final long SECOND = 1_000_000_000;

  private final PrefixIndex index = index(100, 50);

  @Test
  void eachBlockCountsOnTheFastestTierThatHasIt() {
    index.add(7);
    var prefix = Views.hashes(0, 6);
    for (int i = 0; i < 5; i++) stored(7, Tier.DISK, prefix.get(i));
    stored(7, Tier.HOST, prefix.get(1));
    stored(7, Tier.DEVICE, prefix.get(2));
    stored(7, Tier.OBJECT, prefix.get(3));
    assertThat(index.cached(7, prefix)).isEqualTo(CachedBlocks.of(1, 1, 3, 0, 0));
    removed(7, Tier.DISK, prefix.get(3));
    assertThat(index.cached(7, prefix)).isEqualTo(CachedBlocks.of(1, 1, 2, 0, 1));
  }

  @Test
  void prefixEndsWhereABlockIsMissingHoweverManyFollow() {
    index.add(7);
    var prefix = Views.hashes(0, 6);
    for (var hash : prefix) stored(7, Tier.DEVICE, hash);
    removed(7, Tier.DEVICE, prefix.get(2));
    assertThat(index.cached(7, prefix)).isEqualTo(CachedBlocks.onDevice(2));
  }

  @Test
  void onlyWholeBlocksOfTheInstanceAreOfUse() {
    index.add(7);
    var prefix = Views.hashes(0, 6);
    for (int i = 0; i < 5; i++) stored(7, Tier.DEVICE, prefix.get(i));
    assertThat(index.usable(7, prefix, 100, 16)).isEqualTo(CachedBlocks.onDevice(5));
    index.grain(7, 32);
    assertThat(index.usable(7, prefix, 100, 16)).isEqualTo(CachedBlocks.onDevice(4));
    // The last token is computed whatever is cached, and its block with it.
    assertThat(index.usable(7, prefix, 64, 16)).isEqualTo(CachedBlocks.onDevice(2));
    index.grain(7, 48);
    assertThat(index.usable(7, prefix, 100, 16)).isEqualTo(CachedBlocks.onDevice(3));
    index.grain(7, 1);
    assertThat(index.usable(7, prefix, 80, 16)).isEqualTo(CachedBlocks.onDevice(5));
  }

  @Test
  void anInstanceThatNamesEndsContinuesOnlyThere() {
    index.add(7);
    var prefix = Views.hashes(0, 6);
    for (int i = 0; i < 5; i++) stored(7, Tier.DEVICE, prefix.get(i));
    index.needsEnds(7);
    assertThat(index.usable(7, prefix, 100, 16)).isEqualTo(CachedBlocks.NONE);
    index.end(7, prefix.get(2));
    assertThat(index.usable(7, prefix, 100, 16)).isEqualTo(CachedBlocks.onDevice(3));
    index.noEnd(7, prefix.get(2));
    assertThat(index.usable(7, prefix, 100, 16)).isEqualTo(CachedBlocks.NONE);
    index.forget(7);
    for (int i = 0; i < 5; i++) stored(7, Tier.DEVICE, prefix.get(i));
    assertThat(index.usable(7, prefix, 100, 16)).isEqualTo(CachedBlocks.onDevice(5));
  }

  @Test
  void eventsOfAnInstanceThatIsGoneAreIgnored() {
    index.add(7);
    stored(7, Tier.DEVICE, Views.hash(1));
    index.remove(7);
    assertThat(index.size()).isZero();
    assertThat(index.on(7, new KvEvent.Removed(Tier.DEVICE, Views.hash(1)))).isFalse();
    assertThat(index.cached(7, Views.hashes(1, 1))).isEqualTo(CachedBlocks.NONE);
  }

  @Test
  void placeOfAnInstanceThatLeftHasNothingForTheNext() {
    index.add(7);
    stored(7, Tier.HOST, Views.hash(1));
    index.remove(7);
    index.add(8);
    assertThat(index.cached(8, Views.hashes(1, 1))).isEqualTo(CachedBlocks.NONE);
    assertThat(index.held(8, Tier.HOST)).isZero();
  }

  @Test
  void lostEventsMakeItForgetThatInstanceAlone() {
    index.add(7);
    index.add(8);
    stored(7, Tier.DEVICE, Views.hash(1));
    stored(8, Tier.DEVICE, Views.hash(1));
    index.on(7, new KvEvent.Lost(3, 2));
    assertThat(index.held(7, Tier.DEVICE)).isZero();
    assertThat(index.held(8, Tier.DEVICE)).isEqualTo(1);
  }

  @Test
  void duplicateAndUnknownEventsChangeNothing() {
    index.add(7);
    stored(7, Tier.DEVICE, Views.hash(1));
    stored(7, Tier.DEVICE, Views.hash(1));
    removed(7, Tier.HOST, Views.hash(1));
    removed(7, Tier.DEVICE, Views.hash(2));
    assertThat(index.held(7, Tier.DEVICE)).isEqualTo(1);
    assertThat(index.size()).isEqualTo(1);
  }

  @Test
  void instanceThatTellsNothingIsBelievedToHoldWhatItWasSentLast() {
    int place = index.add(7);
    index.sent(place, Views.hashes(0, 3), 4, 0, 0);
    assertThat(index.cached(7, Views.hashes(0, 9))).isEqualTo(CachedBlocks.onDevice(3));
    index.sent(place, Views.hashes(10, 3), 4, 0, 0);
    // The ends of the first prompt are gone, its beginning is still there.
    assertThat(index.cached(7, Views.hashes(0, 3))).isEqualTo(CachedBlocks.onDevice(1));
    assertThat(index.cached(7, Views.hashes(10, 3))).isEqualTo(CachedBlocks.onDevice(3));
    assertThat(index.size()).isEqualTo(4);
  }

  @Test
  void firstEventReplacesWhatWasBelieved() {
    int place = index.add(7);
    index.sent(place, Views.hashes(0, 3), 9, 0, 0);
    stored(7, Tier.DEVICE, Views.hash(5));
    assertThat(index.held(7, Tier.DEVICE)).isEqualTo(1);
    assertThat(index.cached(7, Views.hashes(0, 3))).isEqualTo(CachedBlocks.NONE);
  }

  @Test
  void blocksOnTheirWayAreExpectedForAWhile() {
    int place = index.add(7);
    stored(7, Tier.DEVICE, Views.hash(99));
    index.sent(place, Views.hashes(0, 3), 9, 0, 0);
    assertThat(index.cached(7, Views.hashes(0, 3))).isEqualTo(CachedBlocks.onDevice(3));
    stored(7, Tier.DEVICE, Views.hash(0));
    index.settle(5 * SECOND - 1);
    assertThat(index.cached(7, Views.hashes(0, 3))).isEqualTo(CachedBlocks.onDevice(3));
    index.settle(5 * SECOND);
    assertThat(index.cached(7, Views.hashes(0, 3))).isEqualTo(CachedBlocks.onDevice(1));
    assertThat(index.size()).isEqualTo(2);
  }

  @Test
  void expectationsBeyondTheBoundAreGivenUpOldestFirst() {
    int place = index.add(7);
    stored(7, Tier.DEVICE, Views.hash(99));
    index.sent(place, Views.hashes(0, 51), 9, 0, 0);
    assertThat(index.holds(7, Tier.DEVICE, Views.hash(0))).isFalse();
    assertThat(index.holds(7, Tier.DEVICE, Views.hash(1))).isTrue();
  }

  @Test
  void fullIndexForgetsWhatWasNotStoredAgain() {
    var small = index(3, 5);
    small.add(0);
    for (int name = 0; name < 3; name++) stored(small, 0, Views.hash(name));
    stored(small, 0, Views.hash(3));
    assertThat(small.size()).isEqualTo(3);
    assertThat(small.evicted()).isEqualTo(1);
    assertThat(small.held(0, Tier.DEVICE)).isEqualTo(3);
    assertThat(small.holds(0, Tier.DEVICE, Views.hash(3))).isTrue();
  }

  @Test
  void aGuessIsNotGivenUpByTheClockOfAnOlderOne() {
    int place = index.add(7);
    stored(7, Tier.DEVICE, Views.hash(99));
    index.sent(place, Views.hashes(0, 1), 9, 0, 0);
    stored(7, Tier.DEVICE, Views.hash(0));
    removed(7, Tier.DEVICE, Views.hash(0));
    index.sent(place, Views.hashes(0, 1), 9, 0, 4 * SECOND);
    // Confirmed and removed meanwhile: the second guess has its own five seconds.
    index.settle(5 * SECOND);
    assertThat(index.holds(7, Tier.DEVICE, Views.hash(0))).isTrue();
    // Sent a third time while the second is open: it is expected anew.
    index.sent(place, Views.hashes(0, 1), 9, 0, 8 * SECOND);
    index.settle(9 * SECOND);
    assertThat(index.holds(7, Tier.DEVICE, Views.hash(0))).isTrue();
    index.settle(13 * SECOND);
    assertThat(index.holds(7, Tier.DEVICE, Views.hash(0))).isFalse();
  }

  @Test
  void anyNumberOfInstancesHasPlaces() {
    var large = new PrefixIndex(settings(2_000, 50, 1));
    for (int id = 0; id < 1_000; id++) {
      large.add(id);
      stored(large, id, Views.hash(id));
      stored(large, id, Views.hash(1_999));
    }
    for (int id = 0; id < 1_000; id++) {
      assertThat(large.holds(id, Tier.DEVICE, Views.hash(id))).isTrue();
      assertThat(large.held(id, Tier.DEVICE)).isEqualTo(2);
      assertThat(large.cached(id, Views.hashes(1_999, 1))).isEqualTo(CachedBlocks.onDevice(1));
    }
    assertThat(large.size()).isEqualTo(1_001);
    for (int id = 0; id < 4; id++) index.add(id);
    assertThatThrownBy(() -> index.add(3)).hasMessage("3 is known");
    assertThatThrownBy(() -> index.remove(9)).hasMessage("9 is not known");
  }

  @Test
  void strideMissesNothingWhereBeginningsOutliveEnds() {
    Seeds.each(
        100,
        random -> {
          int stride = 2 + random.nextInt(9);
          var quick = new PrefixIndex(settings(200, 50, stride));
          var exact = new PrefixIndex(settings(200, 50, 1));
          for (int id = 0; id < 70; id++) {
            quick.add(id);
            exact.add(id);
            int length = random.nextInt(4) == 0 ? random.nextInt(100) : 0;
            var tier = random.nextInt(4) == 0 ? Tier.HOST : Tier.DEVICE;
            for (int name = 0; name < length; name++) {
              var event = new KvEvent.Stored(tier, TokenBlock.named(Views.hash(name), null, 0));
              quick.on(id, event);
              exact.on(id, event);
            }
          }
          var prefix = Views.hashes(0, random.nextInt(120));
          for (int id = 0; id < 70; id++) {
            assertThat(quick.cached(id, prefix)).isEqualTo(exact.cached(id, prefix));
          }
        });
  }

  private void stored(int instance, Tier tier, BlockHash hash) {
    index.on(instance, new KvEvent.Stored(tier, TokenBlock.named(hash, null, 0)));
  }

  private static void stored(PrefixIndex index, int instance, BlockHash hash) {
    index.on(instance, new KvEvent.Stored(Tier.DEVICE, TokenBlock.named(hash, null, 0)));
  }

  private void removed(int instance, Tier tier, BlockHash hash) {
    index.on(instance, new KvEvent.Removed(tier, hash));
  }

  private static PrefixIndex index(int entries, int guesses) {
    return new PrefixIndex(settings(entries, guesses, 1));
  }

  private static IndexSettings settings(int entries, int guesses, int stride) {
    return new IndexSettings(entries, guesses, Duration.ofSeconds(5), stride);
  }
}
