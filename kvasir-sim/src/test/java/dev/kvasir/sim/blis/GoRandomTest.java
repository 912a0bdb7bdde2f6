package dev.kvasir.sim.blis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.sim.Shared;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GoRandomTest {
  @ParameterizedTest
  @CsvSource({
    "workload, 3440579354231278675 608747136543856411 5571782338101878760, 50750 19423 117345, "
        + "0.8128771359243787 0.38444584994446157 0.3830446530497163",
    "router, 2209865534360810960 8005449091104485856 4229094246506554210, 13870 44027 12491, "
        + "0.7188177503679594 0.7435323387228472 0.5577537191454279",
    "workload-gen, 8021973113318348621 8992864799868832677 4436493985809465938, "
        + "122608 81772 75351, 0.21908640802231968 0.16134871162188327 0.7245048432876331"
  })
  void streamsOfSeed42DrawWhatGoDraws(String name, String longs, String bounded, String doubles)
      throws IOException {
    var random = GoRandom.stream(table(), 42, name);
    assertThat(List.of(random.int63(), random.int63(), random.int63()))
        .hasToString(List.of(longs.split(" ", -1)).toString());
    assertThat(List.of(random.below(128_000), random.below(128_000), random.below(128_000)))
        .hasToString(List.of(bounded.split(" ", -1)).toString());
    assertThat(List.of(random.float64(), random.float64(), random.float64()))
        .hasToString(List.of(doubles.split(" ", -1)).toString());
  }

  @Test
  void boundsThatArePowersOfTwoTakeTheLowBits() throws IOException {
    var random = new GoRandom(table(), 7);
    var same = new GoRandom(table(), 7);
    for (int i = 0; i < 1_000; i++) assertThat(random.below(4)).isEqualTo(same.int31() % 4);
  }

  @Test
  void seedsThatDifferByTheModulusAreOne() throws IOException {
    var zero = new GoRandom(table(), 0);
    var modulus = new GoRandom(table(), Integer.MAX_VALUE);
    var below = new GoRandom(table(), -Integer.MAX_VALUE);
    long drawn = zero.int63();
    assertThat(modulus.int63()).isEqualTo(drawn);
    assertThat(below.int63()).isEqualTo(drawn);
  }

  @Test
  void tablesOfAnotherLengthAreRefusedByName() {
    assertThatThrownBy(() -> GoRandom.Table.read(new StringReader("[1, 2]"), "table.json"))
        .hasMessage("table.json: 2 words; the table has 607");
    assertThatThrownBy(() -> GoRandom.Table.read(new StringReader("{}"), "table.json"))
        .hasMessageStartingWith("table.json: not a JSON array of whole numbers");
  }

  private static GoRandom.Table table() throws IOException {
    var file = Shared.path("oracle/blis/go-rand-table.json");
    try (var reader = Files.newBufferedReader(file)) {
      return GoRandom.Table.read(reader, "go-rand-table.json");
    }
  }
}
