package dev.kvasir.cli;

import static dev.kvasir.cli.Spoken.kvasir;
import static dev.kvasir.cli.Spoken.words;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.cli.process.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests what `explain cache` reports about a trace, and what hints in a trace are worth to engines.
 */
final class ExplainCacheTest {
  @TempDir private Path folder;

  @Test
  void reportsReturnTimesAndHitsOfEachPolicy() throws IOException {
    var trace = folder.resolve("trace.jsonl");
    // Blocks 1 and 2 return after 10 s, with strangers in between; 5 of 7 never do.
    Files.writeString(
        trace, row(0, 1024, "1,2") + row(5, 1536, "3,4,5") + row(10, 2048, "1,2,6,7"));
    var study = kvasir(words("explain cache --json --sizes 2,9", trace)).json();
    assertThat(study.path("references").asInt()).isEqualTo(9);
    assertThat(study.path("distinct").asInt()).isEqualTo(7);
    assertThat(study.path("neverReused").asDouble()).isEqualTo(5 / 7.0, within(1e-9));
    assertThat(study.path("gapSeconds").path(1).asDouble()).isEqualTo(10);
    var small = study.path("sizes").path(0);
    assertThat(small.path("lru").asDouble()).isZero();
    assertThat(small.path("optimal").asDouble()).isEqualTo(2 / 9.0, within(1e-9));
    var large = study.path("sizes").path(1);
    for (var policy : new String[] {"lru", "learned", "optimal"}) {
      assertThat(large.path(policy).asDouble()).as(policy).isEqualTo(2 / 9.0, within(1e-9));
    }
  }

  @Test
  void writesATableAndAPageWithTheCurves() throws IOException {
    var trace = folder.resolve("trace.jsonl");
    Files.writeString(trace, row(0, 1024, "1,2") + row(2, 1536, "1,2,3"));
    var page = folder.resolve("out.html");
    var output = kvasir(words("explain cache --sizes 10 --report", page, trace));
    assertThat(output.out())
        .contains("5 block references to 3 blocks; 33.3 % of these are never used again")
        .contains("learned")
        .contains("40.00 %");
    assertThat(Files.readString(page))
        .contains("class=\"plot\"")
        .contains("learned")
        .doesNotContain("http:");
  }

  @Test
  void reportsErrors() throws IOException {
    var missing = kvasir(words("explain cache", folder.resolve("none.jsonl")));
    assertThat(missing.code()).isEqualTo(ExitCode.DATA);
    assertThat(missing.err()).contains("there is no file");
    assertThat(kvasir(words("explain tokens", folder)).err()).contains("use: explain cache TRACE");
  }

  /** A few conversations go on after many strangers have come; who is told so keeps them. */
  @Test
  void enginesThatAreToldWhoReturnsFindMore() throws IOException {
    var trace = folder.resolve("trace.jsonl");
    var rows = new StringBuilder();
    int time = 0;
    for (int round = 0; round < 300; round++) {
      int id = 10 * round;
      rows.append(hinted(time++, id, 4, true));
      for (int i = 0; i < 3; i++) {
        rows.append(hinted(time++, 100_000 + 40 * round + 10 * i, 4, false));
      }
      if (round >= 6) rows.append(hinted(time++, 10 * (round - 6), 5, false));
    }
    Files.writeString(trace, rows);
    var line =
        "simulate --json --instances 1 --block-size 512 --total-kv-blocks 60 --eviction learned"
            + " --trace";
    var reported = kvasir(words(line, trace)).json();
    Files.writeString(trace, rows.toString().replaceAll(", \"returns\": \\w+", ""));
    var unreported = kvasir(words(line, trace)).json();
    var oracle = kvasir(words(line, trace, "--hint-oracle", "1")).json();
    double without = unreported.path("cache_hit_rate").asDouble();
    assertThat(reported.path("cache_hit_rate").asDouble()).isGreaterThan(without + 0.05);
    assertThat(oracle.path("cache_hit_rate").asDouble()).isGreaterThan(without + 0.05);
  }

  private static String hinted(int seconds, int firstId, int blocks, boolean returns) {
    var ids = new StringBuilder();
    for (int i = 0; i < blocks; i++) ids.append(i == 0 ? "" : ",").append(firstId + i);
    return ("{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 2, \"hash_ids\": [%s],"
            + " \"returns\": %s}%n")
        .formatted(1_000L * seconds, 512 * blocks, ids, returns);
  }

  private static String row(int seconds, int tokens, String ids) {
    return "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 2, \"hash_ids\": [%s]}%n"
        .formatted(1_000L * seconds, tokens, ids);
  }
}
