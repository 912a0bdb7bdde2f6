package dev.kvasir.tiers.disk;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.tiers.host.Quiet;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ends a process that stores blocks, again and again, and looks at what it left. */
@Tag("all")
class KillTest {
  private static final int KILLS = 16;
  private static final int CHAINS_LONG = 20;
  private static final int KILLS_LONG = 150;
  private static final int TIMES_MAX = 40;
  private static final int LIVED_MILLIS_MAX = 250;

  @TempDir Path temp;

  /** Expected content of each slot, by what the children reported. */
  private final Map<Integer, Long> expected = new TreeMap<>();

  private long found;
  private long slowestNanos;
  private int halted;
  private int kills;

  @Test
  void nothingIsLostAndNothingIsWrongAfterAKill() throws Exception {
    Quiet.please();
    boolean isLong = Seeds.scale() > 1;
    Seeds.each(
        isLong ? CHAINS_LONG : 1,
        random -> {
          var folder = temp.resolve("tier-" + random.nextLong());
          expected.clear();
          for (int i = 0; i < (isLong ? KILLS_LONG : KILLS); i++) {
            kills++;
            // Half at a named point, half at any time.
            int named = random.nextInt(2 * StoreChild.POINTS.size());
            var point = named < StoreChild.POINTS.size() ? StoreChild.POINTS.get(named) : "-";
            long millis = random.nextInt(LIVED_MILLIS_MAX);
            int times = 1 + random.nextInt(point.contains("index.new") ? 4 : TIMES_MAX);
            try {
              end(folder, i, point, times, millis);
              check(folder);
            } catch (IOException | InterruptedException e) {
              throw new AssertionError("kill " + i + " at " + point, e);
            }
          }
        });
    System.out.printf(
        "kill -9: %,d kills, %,d of them at named points, %,d blocks found, recovery <= %.1f ms%n",
        kills, halted, found, slowestNanos / 1e6);
    assertThat(halted).isGreaterThan(kills / 5);
    assertThat(found).isGreaterThan(kills);
  }

  private void end(Path folder, int seed, String point, int times, long millis)
      throws IOException, InterruptedException {
    var child = StoreChild.start("store", folder, point, "" + times, "" + seed);
    try (var lines = new BufferedReader(new InputStreamReader(child.getInputStream(), UTF_8))) {
      var line = lines.readLine();
      boolean named = !point.equals("-");
      var killer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      var _ =
                          child.waitFor(named ? 4 * millis + 1000 : millis, TimeUnit.MILLISECONDS);
                    } catch (InterruptedException e) {
                      throw new AssertionError(e);
                    } finally {
                      child.toHandle().destroyForcibly();
                    }
                  });
      while (line != null) {
        note(line);
        line = lines.readLine();
      }
      killer.join();
      if (child.waitFor() == StoreChild.HALTED) halted++;
    }
  }

  private void note(String line) {
    var words = line.split(" ", -1);
    switch (words[0]) {
      case "open" -> {}
      case "begin" -> expected.remove(Integer.valueOf(words[1]));
      case "done" -> expected.put(Integer.valueOf(words[1]), Long.valueOf(words[2]));
      default -> throw new AssertionError(line);
    }
  }

  private void check(Path folder) throws IOException {
    long began = System.nanoTime();
    try (var shelf = new Shelf(settings(folder))) {
      slowestNanos = Math.max(slowestNanos, System.nanoTime() - began);
      var held = new TreeMap<Integer, Long>();
      for (var each : shelf.store.recovered()) {
        held.put(each.slot(), each.block().hash().first());
      }
      assertThat(held).containsAllEntriesOf(expected);
      for (var entry : held.entrySet()) {
        assertThat(shelf.load(entry.getKey(), entry.getValue())).isEqualTo(CopyOutcome.COPIED);
      }
      found += expected.size();
      expected.putAll(held);
    }
    try (var files = Files.list(folder)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("lock", "index.log", "blocks.kv");
    }
  }

  private static DiskSettings settings(Path folder) {
    return DiskSettings.of(folder, StoreChild.BLOCKS, StoreChild.BLOCK_BYTES);
  }
}
