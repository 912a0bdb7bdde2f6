package dev.kvasir.live.store;

import dev.kvasir.Nullable;
import dev.kvasir.live.cuda.CopyCosts;
import dev.kvasir.live.cuda.CudaFailure;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * One direction between a GPU and the host: calls that wait, and lanes that each copy a chunk.
 *
 * <p>After a rest the first lanes get smaller chunks, so that they end one after the other: lanes
 * that share the link evenly would all end at once, and leave it idle until the next begins.
 */
final class DeviceRoad {
  static final int LANES = 3;

  /** Some copies of a call, on a lane. */
  record Chunk(DeviceLane lane, DeviceCall call, int from, int to) {}

  private final Deque<DeviceLane> free = new ArrayDeque<>();
  private final List<Chunk> underWay = new ArrayList<>();
  private final Deque<DeviceCall> waiting = new ArrayDeque<>();
  private final int blocksMax;
  private final CopyCosts costs;
  private int begun;

  DeviceRoad(List<DeviceLane> lanes, DeviceLayout layout, CopyCosts costs) {
    this.free.addAll(lanes);
    this.blocksMax = DeviceLane.blocksMax(layout);
    this.costs = costs;
  }

  CopyCosts costs() {
    return costs;
  }

  void add(DeviceCall call) {
    waiting.add(call);
  }

  boolean isBusy() {
    return !underWay.isEmpty() || !waiting.isEmpty();
  }

  /** The next chunk to begin, if there is a lane and a call for it. */
  @Nullable
  Chunk next() {
    while (!waiting.isEmpty() && waiting.peek().left() == 0) waiting.remove();
    if (free.isEmpty() || waiting.isEmpty()) return null;
    if (underWay.isEmpty()) begun = 0;
    begun = Math.min(begun + 1, LANES);
    var call = waiting.peek();
    int blocks = Math.min(call.left(), Math.max(1, blocksMax * begun / LANES));
    int from = call.take(blocks);
    var chunk = new Chunk(free.remove(), call, from, from + blocks);
    underWay.add(chunk);
    return chunk;
  }

  /** Frees the lanes that are done; returns the calls that are over with it. */
  List<DeviceCall> finished() throws CudaFailure {
    var over = new ArrayList<DeviceCall>();
    for (int i = 0; i < underWay.size(); ) {
      var chunk = underWay.get(i);
      if (chunk.lane.isDone()) {
        underWay.remove(i);
        free.add(chunk.lane);
        finish(chunk, over);
      } else {
        i++;
      }
    }
    return over;
  }

  private static void finish(Chunk chunk, List<DeviceCall> over) {
    chunk.call.finish(chunk.to - chunk.from);
    if (chunk.call.isOver()) over.add(chunk.call);
  }

  /** Lets nothing more begin; returns the calls of which nothing is under way. */
  List<DeviceCall> drop(String reason) {
    var over = new ArrayList<DeviceCall>();
    for (var call : waiting) {
      if (call.left() == 0) continue;
      call.fail(reason);
      if (call.isOver()) over.add(call);
    }
    waiting.clear();
    return over;
  }

  /** Lets nothing more begin, and takes what is under way for ended. */
  List<DeviceCall> abandon(String reason) {
    var over = drop(reason);
    for (var chunk : underWay) {
      chunk.call.fail(reason);
      finish(chunk, over);
    }
    underWay.clear();
    return over;
  }
}
