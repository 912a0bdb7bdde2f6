package dev.kvasir.kv.evict.learned;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
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

  @Test
  void aTreeThatIsTooDeepIsRefused() {
    var tables = new ReturnTables(1);
    int last = ReturnTables.ROOT;
    for (int depth = 1; depth < 8; depth++) last = tables.child(last, 1);
    int other = tables.child(ReturnTables.ROOT, 2);
    var saved = tables.save(new HintTrust());
    assertThat(new ReturnTables(1).restore(saved, new HintTrust())).isTrue();
    var bytes = ByteBuffer.wrap(saved);
    int row = 3 * Integer.BYTES + ReturnTables.AGES * 2 * Float.BYTES;
    bytes.putInt(2 * Integer.BYTES + Long.BYTES + other * row, last);
    var sum = new CRC32C();
    sum.update(saved, 0, saved.length - Integer.BYTES);
    bytes.putInt(saved.length - Integer.BYTES, (int) sum.getValue());
    assertThat(new ReturnTables(1).restore(saved, new HintTrust())).isFalse();
  }

  private static void end(ReturnTables tables) {
    tables.ended();
    while (tables.refreshNext() != ReturnTables.NONE) {}
  }

  @Test
  void classesThatOnlyChanceTellsApartAreWorthTheSame() {
    var tables = new ReturnTables(1);
    int above = tables.child(tables.child(ReturnTables.ROOT, 0), 0);
    int some = tables.child(above, 0);
    int more = tables.child(above, 1);
    live(tables, some, 100, 20);
    live(tables, more, 100, 24);
    settle(tables, 100);
    assertThat(tables.index(more, 0)).isEqualTo(tables.index(some, 0));
  }

  @Test
  void classesThatDifferByMoreThanChanceAreWorthWhatTheyAre() {
    var tables = new ReturnTables(1);
    int above = tables.child(tables.child(ReturnTables.ROOT, 0), 0);
    int seldom = tables.child(above, 0);
    int often = tables.child(above, 1);
    live(tables, seldom, 100, 5);
    live(tables, often, 100, 60);
    settle(tables, 100);
    assertThat(tables.index(often, 0)).isGreaterThan(3 * tables.index(seldom, 0));
  }

  @Test
  void anAgeThatNobodyReachedYetIsWorthLessWhereNobodyReturnedBeforeIt() {
    var tables = new ReturnTables(1);
    int reachedMax = 20;
    for (int request = 0; request < 4_000; request++) {
      for (int age = 0; age <= reachedMax; age++) tables.reached(ReturnTables.ROOT, age, 1);
      end(tables);
    }
    int older = reachedMax + 1;
    float before = new ReturnTables(1).index(ReturnTables.ROOT, older);
    assertThat(tables.index(ReturnTables.ROOT, older)).isLessThan(before / 2);
  }

  /** So many requests of the class, of which so many return at an age. */
  private static void live(ReturnTables tables, int of, int requests, int returns) {
    int age = 4;
    for (int i = 0; i <= age; i++) tables.reached(of, i, requests);
    tables.returned(of, age, returns);
  }

  private static void settle(ReturnTables tables, int requests) {
    for (int request = 0; request < requests; request++) end(tables);
  }
}
