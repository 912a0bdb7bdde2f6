package dev.kvasir.gpu.model;

/** The sizes for which graphs are made, so that few of them serve all steps. */
final class GraphSizes {
  /** Larger steps are launched kernel by kernel. */
  static final int ROWS_MAX = 512;

  private static final int FINE_ROWS = 16;

  private GraphSizes() {}

  /** The smallest sizes with a graph of their own that these fit into. */
  static StepTables.Sizes padded(StepTables.Sizes sizes) {
    int rows = rows(sizes.tokens());
    boolean isWhole = sizes.joins() == 0;
    int items = isWhole ? rows : Math.max(2 * rows, powerOfTwo(sizes.items()));
    return new StepTables.Sizes(rows, rows, items, isWhole ? 0 : rows, 0);
  }

  private static int rows(int rows) {
    if (rows <= 2) return rows;
    if (rows <= FINE_ROWS) return (rows + 3) / 4 * 4;
    int step = rows <= 64 ? 16 : 32;
    return (rows + step - 1) / step * step;
  }

  private static int powerOfTwo(int count) {
    return count <= 1 ? 1 : Integer.highestOneBit(count - 1) << 1;
  }
}
