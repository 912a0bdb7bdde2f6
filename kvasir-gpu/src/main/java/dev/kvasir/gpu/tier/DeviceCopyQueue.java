package dev.kvasir.gpu.tier;

import dev.kvasir.Nullable;
import dev.kvasir.gpu.CopyChoice;
import dev.kvasir.gpu.CopyCosts;
import dev.kvasir.gpu.CopyShape;
import dev.kvasir.gpu.CopyWay;
import dev.kvasir.gpu.CudaFailure;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The copies of one direction between a GPU and the host: waiting calls, and lanes that each copy a
 * chunk.
 */
final class DeviceCopyQueue {
  /** Some copies of a call, on a lane, and which way they go. */
  record Chunk(DeviceLane lane, CopyWay way, DeviceCall call, int from, int to) {}

  private final Deque<DeviceLane> free = new ArrayDeque<>();
  private final List<Chunk> underWay = new ArrayList<>();
  private final Deque<DeviceCall> waiting = new ArrayDeque<>();
  private final DeviceLayout layout;
  private final CopyCosts costs;
  private long bytesUnderWay;
  private int begun;

  DeviceCopyQueue(List<DeviceLane> lanes, DeviceLayout layout, CopyCosts costs) {
    this.free.addAll(lanes);
    this.layout = layout;
    this.costs = costs;
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
    if (bytesUnderWay >= DeviceLane.UNDER_WAY_BYTES_MAX) return null;
    if (underWay.isEmpty()) begun = 0;
    var call = waiting.peek();
    var way = way(call);
    var lane = free.remove();
    int blocks = Math.min(call.left(), lane.blocks(way, begun++));
    int from = call.reserve(blocks);
    var chunk = new Chunk(lane, way, call, from, from + blocks);
    underWay.add(chunk);
    bytesUnderWay += bytes(chunk);
    return chunk;
  }

  /** The cheapest way for what a lane would take of the call next. */
  private CopyWay way(DeviceCall call) {
    int from = call.reserved();
    int to = from + Math.min(call.left(), DeviceLane.blocksMax(CopyWay.RUNS, layout));
    return CopyChoice.of(costs, CopyShape.of(call.pairs(to), from, to, layout.parts())).way();
  }

  private long bytes(Chunk chunk) {
    return (long) (chunk.to - chunk.from) * layout.blockBytes();
  }

  /** Frees the lanes that are done; returns the calls that are over with it. */
  List<DeviceCall> finished() throws CudaFailure {
    var over = new ArrayList<DeviceCall>();
    for (int i = 0; i < underWay.size(); ) {
      var chunk = underWay.get(i);
      if (chunk.lane.isDone()) {
        underWay.remove(i);
        bytesUnderWay -= bytes(chunk);
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
