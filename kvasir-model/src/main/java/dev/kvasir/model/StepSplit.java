package dev.kvasir.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Distributes the rows of a step over threads.
 *
 * <p>Rows that do not read what another row writes in the same step run through all layers on
 * separate threads, without waiting for each other. Other steps, and those with one long row, are
 * parallel within each product instead.
 */
final class StepSplit {
  /** The busiest thread may have so many times the average, or the rows are not parted. */
  private static final double IMBALANCE_MAX = 1.4;

  private static final int NO_WRITER = -1;

  private StepSplit() {}

  /** The numbers of the rows, parted into as many groups as can run side by side. */
  static List<List<Integer>> of(List<StepRow> rows, int memoryBlocks, int threads) {
    var all = new ArrayList<Integer>();
    for (int i = 0; i < rows.size(); i++) all.add(i);
    boolean independent = independent(rows, memoryBlocks);
    int groups = Math.min(threads, rows.size());
    if (groups < 2 || !independent) return List.of(all);
    var parted = parted(rows, all, groups);
    long total = 0;
    long most = 0;
    for (var group : parted) {
      long load = load(rows, group);
      total += load;
      most = Math.max(most, load);
    }
    return most * groups > IMBALANCE_MAX * total ? List.of(all) : parted;
  }

  /** Returns whether no row reads a block that another writes; two writers of it are a bug. */
  private static boolean independent(List<StepRow> rows, int memoryBlocks) {
    var writers = new int[memoryBlocks];
    Arrays.fill(writers, NO_WRITER);
    for (int i = 0; i < rows.size(); i++) {
      var row = rows.get(i);
      for (int b = row.firstPosition() / ModelShape.BLOCK_TOKENS;
          b < ModelShape.blocks(row.end());
          b++) {
        int block = row.blocks()[b];
        if (writers[block] != NO_WRITER) {
          throw new IllegalArgumentException(
              "rows " + writers[block] + " and " + i + " both write block " + block);
        }
        writers[block] = i;
      }
    }
    for (int i = 0; i < rows.size(); i++) {
      var row = rows.get(i);
      for (int b = 0; b < ModelShape.blocks(row.end()); b++) {
        int writer = writers[row.blocks()[b]];
        if (writer != NO_WRITER && writer != i) return false;
      }
    }
    return true;
  }

  /** The longest rows first, each to the group that has least. */
  private static List<List<Integer>> parted(List<StepRow> rows, List<Integer> all, int groups) {
    var parted = new ArrayList<List<Integer>>();
    for (int i = 0; i < groups; i++) parted.add(new ArrayList<>());
    var byLength = new ArrayList<>(all);
    byLength.sort(Comparator.comparingInt(i -> -rows.get(i).tokens().length));
    for (int i : byLength) {
      var least = parted.getFirst();
      for (var group : parted) {
        if (load(rows, group) < load(rows, least)) least = group;
      }
      least.add(i);
    }
    return parted;
  }

  private static long load(List<StepRow> rows, List<Integer> group) {
    long tokens = 0;
    for (int i : group) tokens += rows.get(i).tokens().length;
    return tokens;
  }
}
