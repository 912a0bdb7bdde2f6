package dev.kvasir.kv.evict;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReturnTablesTest {
  @Test
  void aClassThatReturnsIsWorthMoreThanOneThatOnlyGrowsOld() {
    var tables = new ReturnTables(1);
    int returning = tables.child(ReturnTables.ROOT, 1);
    int leaving = tables.child(ReturnTables.ROOT, 2);
    for (int request = 0; request < 200; request++) {
      tables.reached(returning, 0, 1);
      tables.reached(leaving, 0, 1);
      tables.returned(returning, 0, 1);
      end(tables);
    }
    assertThat(tables.index(returning, 0)).isGreaterThan(10 * tables.index(leaving, 0));
  }

  @Test
  void aClassWithLittleEvidenceIsLikeItsParent() {
    var tables = new ReturnTables(1);
    int known = tables.child(ReturnTables.ROOT, 1);
    for (int request = 0; request < 200; request++) {
      tables.reached(known, 0, 1);
      tables.returned(known, 0, 1);
      end(tables);
    }
    int young = tables.child(known, 1);
    assertThat(tables.index(young, 0)).isEqualTo(tables.index(known, 0));
  }

  private static void end(ReturnTables tables) {
    tables.ended();
    while (tables.refreshNext() != ReturnTables.NONE) {}
  }
}
