package dev.kvasir.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of what eviction has learnt. */
class LearnedTablesTest {
  @TempDir private Path folder;

  @Test
  void whatWasLearntIsReadAfterARestart() throws IOException {
    var pool = pool("learned");
    var tables = LearnedTables.siblingOf(folder.resolve("kv"));
    tables.add("host", pool);
    for (int i = 0; i < 50; i++) pool.ended(end(i));
    tables.save();
    try (var files = Files.list(folder)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactly("kv-host.learned");
    }
    var again = pool("learned");
    LearnedTables.siblingOf(folder.resolve("kv")).add("host", again);
    assertThat(again.saveLearned()).isEqualTo(pool.saveLearned());
    assertThat(again.saveLearned()).isNotEqualTo(pool("learned").saveLearned());
  }

  @Test
  void aDamagedFileIsIgnoredCountedAndReplaced() throws IOException {
    Logger.getLogger("dev.kvasir").setLevel(Level.SEVERE);
    var file = folder.resolve("kv-host.learned");
    for (var content : new byte[][] {{}, {1, 2, 3}, new byte[2 << 20]}) {
      Files.write(file, content);
      var pool = pool("learned");
      var tables = LearnedTables.siblingOf(folder.resolve("kv"));
      tables.add("host", pool);
      assertThat(pool.learned().orElseThrow().restoresRefused()).isEqualTo(1);
      tables.save();
      assertThat(Files.readAllBytes(file)).isEqualTo(pool.saveLearned());
    }
  }

  @Test
  void aPoolThatDoesNotLearnHasNoFile() throws IOException {
    var tables = LearnedTables.siblingOf(folder.resolve("kv"));
    tables.add("host", pool("lru"));
    tables.save();
    try (var files = Files.list(folder)) {
      assertThat(files).isEmpty();
    }
  }

  @Test
  void aFolderThatIsGoneIsCounted() {
    Logger.getLogger("dev.kvasir").setLevel(Level.SEVERE);
    var tables = LearnedTables.siblingOf(folder.resolve("gone").resolve("kv"));
    tables.add("host", pool("learned"));
    tables.save();
    assertThat(tables.failed()).isEqualTo(1);
  }

  private static BlockPool pool(String eviction) {
    var order = Eviction.named(eviction, new FrequencySketch(64));
    var settings = PoolSettings.of(Tier.HOST, 64, 16).with(order);
    return new BlockPool(settings, new PrefixRegistry(), new KvEvents());
  }

  private static EndedRequest end(int number) {
    var hash = new BlockHash(number * 0x9e3779b97f4a7c15L, number, number, number);
    var block = TokenBlock.named(hash, null, 0);
    var names =
        new BlockNames() {
          @Override
          public BlockHash name(int index) {
            return hash;
          }

          @Override
          public TokenBlock block(int index) {
            return block;
          }
        };
    return new EndedRequest(names, 1, 1, 10, ReturnHint.NONE);
  }
}
