package dev.kvasir.kv.evict.learned;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests which segment goes first. */
class CellsTest {
  private static final int REQUESTS_MANY = 4_000;

  private final ReturnTables tables = new ReturnTables(1);
  private final Segments segments = new Segments(8, 8);
  private final int above = tables.child(tables.child(ReturnTables.ROOT, 0), 0);
  private final int first = tables.child(above, 0);
  private final int second = tables.child(above, 1);
  private final Cells cells = new Cells(segments, tables);

  @Test
  void ofEqualsTheOldestGoesFirst() {
    end(REQUESTS_MANY);
    int older = segments.open(Segments.OWN, second, 1, 10);
    int younger = segments.open(Segments.OWN, first, 1, 20);
    cells.add(younger);
    cells.add(older);
    assertThat(cells.first()).isEqualTo(older);
    cells.remove(older);
    assertThat(cells.first()).isEqualTo(younger);
  }

  @Test
  void whatReturnsLessOftenGoesFirstThoughItIsYounger() {
    for (int request = 0; request < REQUESTS_MANY; request++) {
      tables.reached(first, 0, 1);
      tables.reached(second, 0, 1);
      if (request % 2 == 0) tables.returned(second, 0, 1);
      end(1);
    }
    int older = segments.open(Segments.OWN, second, 1, 10);
    int younger = segments.open(Segments.OWN, first, 1, 20);
    cells.add(older);
    cells.add(younger);
    assertThat(cells.first()).isEqualTo(younger);
    cells.order(Cells.Order.OLDEST);
    assertThat(cells.first()).isEqualTo(older);
  }

  private void end(int requests) {
    for (int request = 0; request < requests; request++) {
      tables.ended();
      for (int of = tables.refreshNext(); of != ReturnTables.NONE; of = tables.refreshNext()) {
        cells.price(of);
      }
    }
  }
}
