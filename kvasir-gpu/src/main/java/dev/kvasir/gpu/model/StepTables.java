package dev.kvasir.gpu.model;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.kvasir.model.ModelShape;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The description of a step's rows for the kernels, as numbers in one piece of memory.
 *
 * <p>Rows of one token attend chunk by chunk ("items"); rows of more attend in tiles of queries.
 * All lists can be padded to the size of a larger graph; results of padding are never read.
 */
final class StepTables {
  private static final int ITEM_INTS = 8;
  private static final int FOUR = 4;
  private static final int ALIGN_INTS = 8;

  /** Lengths of the lists. */
  record Sizes(int tokens, int samples, int items, int joins, int tiles) {}

  /** Places of the lists, one behind the other, and their lengths. */
  record Places(Sizes sizes, long address) {
    int tokens() {
      return sizes.tokens;
    }

    int samples() {
      return sizes.samples;
    }

    int items() {
      return sizes.items;
    }

    int joins() {
      return sizes.joins;
    }

    int tiles() {
      return sizes.tiles;
    }

    long sources() {
      return address;
    }

    long positions() {
      return behind(sources(), sizes.tokens);
    }

    long starts() {
      return behind(positions(), sizes.tokens);
    }

    long sampleTokens() {
      return behind(starts(), sizes.tokens);
    }

    long choices() {
      return behind(sampleTokens(), sizes.samples);
    }

    long itemList() {
      return behind(choices(), FOUR * sizes.samples);
    }

    long joinList() {
      return behind(itemList(), ITEM_INTS * sizes.items);
    }

    long tileList() {
      return behind(joinList(), FOUR * sizes.joins);
    }

    long blocks() {
      return behind(tileList(), FOUR * sizes.tiles);
    }

    private static long behind(long list, int ints) {
      return list + (ints + ALIGN_INTS - 1) / ALIGN_INTS * (4L * ALIGN_INTS);
    }
  }

  private record Item(int token, int first, int end, int start, int whole) {}

  private record Quad(int a, int b, int c, int d) {}

  private final List<GpuRow> rows;
  private final List<Item> items = new ArrayList<>();
  private final List<Quad> joins = new ArrayList<>();
  private final List<Quad> tiles = new ArrayList<>();
  private final List<Quad> choices = new ArrayList<>();
  private final List<Integer> sampleTokens = new ArrayList<>();
  private int tokens;
  private int blocks;

  /**
   * The tables of these rows.
   *
   * @param tileQueries so many queries of a prompt attend together
   */
  StepTables(List<GpuRow> rows, int tileQueries) {
    this.rows = List.copyOf(rows);
    for (var row : rows) {
      if (row.tokens().length == 1) decode(row);
      else prefill(row, tileQueries);
      tokens += row.tokens().length;
      blocks += ModelShape.blocks(row.end());
      if (!row.isSampled()) continue;
      sampleTokens.add(tokens - 1);
      choices.add(choice(row));
    }
    // Those with the most keys first: they take longest.
    tiles.sort(Comparator.comparingInt((Quad tile) -> tile.c).reversed());
    if (items.size() == joins.size()) joins.clear();
  }

  private void decode(GpuRow row) {
    int chunks = (row.end() + GpuKernels.CHUNK_TOKENS - 1) / GpuKernels.CHUNK_TOKENS;
    joins.add(new Quad(tokens, items.size(), chunks, 0));
    for (int i = 0; i < chunks; i++) {
      int first = i * GpuKernels.CHUNK_TOKENS;
      int end = Math.min(row.end(), first + GpuKernels.CHUNK_TOKENS);
      items.add(new Item(tokens, first, end, blocks, chunks == 1 ? 1 : 0));
    }
  }

  private void prefill(GpuRow row, int tileQueries) {
    int count = row.tokens().length;
    for (int first = 0; first < count; first += tileQueries) {
      int queries = Math.min(tileQueries, count - first);
      tiles.add(new Quad(tokens + first, queries, row.position() + first, blocks));
    }
  }

  private static Quad choice(GpuRow row) {
    return switch (row.choice()) {
      case GpuRow.Choice.Drawn(float temperature, long seed) ->
          new Quad(
              Float.floatToIntBits(1 / temperature), (int) seed, (int) (seed >> 32), row.end());
      case GpuRow.Choice.Likeliest _, GpuRow.Choice.None _ -> new Quad(0, 0, 0, row.end());
    };
  }

  /** As long as the lists are. */
  Sizes sizes() {
    return new Sizes(tokens, sampleTokens.size(), items.size(), joins.size(), tiles.size());
  }

  /** Returns whether every row computes one token, and wants another. */
  boolean isDecode() {
    return tokens == rows.size() && sampleTokens.size() == tokens;
  }

  /** Returns how many bytes the tables take with lists of these sizes. */
  long bytes(Sizes sizes) {
    return Places.behind(new Places(sizes, 0).blocks(), blocks);
  }

  /** Writes the lists, padded to these sizes. */
  void write(MemorySegment to, Sizes sizes) {
    var at = new Places(sizes, 0);
    int token = 0;
    int start = 0;
    for (var row : rows) {
      for (int i = 0; i < row.tokens().length; i++, token++) {
        set(to, at.sources(), token, row.tokens()[i]);
        set(to, at.positions(), token, row.position() + i);
        set(to, at.starts(), token, start);
      }
      int used = ModelShape.blocks(row.end());
      for (int i = 0; i < used; i++) set(to, at.blocks(), start + i, row.blocks()[i]);
      start += used;
    }
    for (; token < sizes.tokens; token++) {
      set(to, at.sources(), token, 0);
      set(to, at.positions(), token, -1);
      set(to, at.starts(), token, 0);
    }
    for (int i = 0; i < sizes.samples; i++) {
      set(to, at.sampleTokens(), i, i < sampleTokens.size() ? sampleTokens.get(i) : 0);
    }
    quads(to, at.choices(), choices, sizes.samples);
    items(to, at.itemList(), sizes.items);
    quads(to, at.joinList(), joins, sizes.joins);
    quads(to, at.tileList(), tiles, sizes.tiles);
  }

  private void items(MemorySegment to, long list, int count) {
    for (int i = 0; i < count; i++) {
      int at = ITEM_INTS * i;
      var item = i < items.size() ? items.get(i) : new Item(0, 0, 0, 0, 0);
      set(to, list, at, item.token);
      set(to, list, at + 1, item.first);
      set(to, list, at + 2, item.end);
      set(to, list, at + 3, item.start);
      set(to, list, at + 4, item.whole);
    }
  }

  private static void quads(MemorySegment to, long list, List<Quad> quads, int count) {
    for (int i = 0; i < count; i++) {
      var quad = i < quads.size() ? quads.get(i) : new Quad(0, 0, 0, 0);
      set(to, list, FOUR * i, quad.a);
      set(to, list, FOUR * i + 1, quad.b);
      set(to, list, FOUR * i + 2, quad.c);
      set(to, list, FOUR * i + 3, quad.d);
    }
  }

  private static void set(MemorySegment to, long list, int index, int value) {
    to.set(JAVA_INT, list + 4L * index, value);
  }
}
