package dev.kvasir.kv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;

class KvChangesTest {
  private static final int LOGGED = 1 << 10;

  private final KvChanges changes = new KvChanges();

  /** Names of one sequence, the first of which it shares with its family. */
  private record Names(int family, int shared, int own) implements BlockNames {
    @Override
    public BlockHash name(int index) {
      return new BlockHash(index < shared ? family : own, index, 0, 1);
    }

    @Override
    public TokenBlock block(int index) {
      return TokenBlock.named(name(index), index == 0 ? null : name(index - 1), index);
    }
  }

  @Test
  void changeOfWatchedBlockMakesVersionAndConcernsThoseWhoHaveIt() {
    var first = new Names(1, 4, 11);
    var second = new Names(1, 4, 12);
    changes.watch(first, 8);
    changes.watch(second, 8);
    long before = changes.version();
    changes.changed(first.name(6));
    assertThat(changes.version()).isEqualTo(before + 1);
    assertThat(changes.isChanged(before, first, 8)).isTrue();
    assertThat(changes.isChanged(before, first, 6)).isFalse();
    assertThat(changes.isChanged(before, second, 8)).isFalse();
    changes.changed(first.name(3));
    assertThat(changes.isChanged(before + 1, second, 8)).isTrue();
    assertThat(changes.isChanged(before + 2, second, 8)).isFalse();
  }

  @Test
  void changeOfAnyOtherBlockMakesNoVersion() {
    changes.watch(new Names(1, 4, 11), 4);
    long before = changes.version();
    changes.changed(new Names(1, 4, 11).name(4));
    changes.changed(new Names(2, 4, 12).name(0));
    assertThat(changes.version()).isEqualTo(before);
    assertThat(changes.watched()).isEqualTo(4);
  }

  @Test
  void moreChangesThanAreLoggedConcernEverybody() {
    var watched = new Names(1, 0, 11);
    var other = new Names(2, 0, 12);
    changes.watch(watched, 1);
    changes.watch(other, 1);
    long before = changes.version();
    for (int i = 0; i < LOGGED; i++) changes.changed(other.name(0));
    assertThat(changes.isChanged(before, watched, 1)).isFalse();
    changes.changed(other.name(0));
    assertThat(changes.isLogged(before)).isFalse();
    assertThat(changes.isChanged(before, watched, 1)).isTrue();
  }

  @Test
  void whatWasKnownBeforeNothingWasWatchedCountsAsChanged() {
    var watched = new Names(1, 0, 11);
    changes.watch(watched, 2);
    long before = changes.version();
    changes.clear();
    assertThat(changes.watched()).isZero();
    assertThat(changes.isChanged(before, watched, 2)).isTrue();
    assertThat(changes.isChanged(changes.version(), watched, 2)).isFalse();
  }

  @Test
  void nameAtTwoPlacesConcernsEverybody() {
    var first = new Names(1, 0, 11);
    BlockNames moved = shifted(first);
    changes.watch(first, 2);
    changes.watch(moved, 2);
    long before = changes.version();
    changes.changed(first.name(1));
    assertThat(changes.isChanged(before, first, 2)).isTrue();
    assertThat(changes.isChanged(before, moved, 2)).isTrue();
  }

  private static BlockNames shifted(Names names) {
    return new BlockNames() {
      @Override
      public BlockHash name(int index) {
        return names.name(index + 1);
      }

      @Override
      public TokenBlock block(int index) {
        throw new AssertionError("nobody reads block " + index);
      }
    };
  }

  @Test
  void noChangeOfAWatchedBlockIsMissed() {
    Seeds.each(
        20 * Seeds.scale(),
        random -> {
          var log = new KvChanges();
          var sequences = new ArrayList<Names>();
          for (int i = 0; i < 40; i++) {
            sequences.add(new Names(random.nextInt(4), random.nextInt(12), 100 + i));
          }
          var versions = new LinkedHashMap<Names, Long>();
          var changed = new LinkedHashMap<Names, Boolean>();
          for (int step = 0; step < 2_000; step++) {
            var names = sequences.get(random.nextInt(40));
            if (random.nextInt(3) == 0) {
              log.watch(names, 16);
              versions.put(names, log.version());
              changed.put(names, false);
            } else if (random.nextInt(300) == 0) {
              log.clear();
              changed.replaceAll((_, _) -> true);
            } else {
              var name = names.name(random.nextInt(16));
              log.changed(name);
              for (var each : List.copyOf(changed.keySet())) {
                for (int i = 0; i < 16; i++) {
                  if (each.name(i).equals(name)) changed.put(each, true);
                }
              }
            }
            versions.forEach(
                (each, since) -> {
                  if (changed.getOrDefault(each, true)) {
                    assertThat(log.isChanged(since, each, 16)).isTrue();
                  }
                });
          }
        });
  }
}
