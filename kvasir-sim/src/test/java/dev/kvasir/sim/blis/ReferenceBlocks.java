package dev.kvasir.sim.blis;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** KV blocks by the rules of BLIS, written for reading: one free list, and lists of tokens. */
final class ReferenceBlocks {
  private final int blockTokens;
  private final ArrayDeque<Integer> free = new ArrayDeque<>();
  private final List<List<Long>> tokens = new ArrayList<>();
  private final List<List<Long>> names = new ArrayList<>();
  private final int[] holders;
  private final Map<List<Long>, Integer> known = new HashMap<>();
  private final Map<ReferenceRequest, List<Integer>> owned = new HashMap<>();

  ReferenceBlocks(int blocks, int blockTokens) {
    this.blockTokens = blockTokens;
    this.holders = new int[blocks];
    for (int block = 0; block < blocks; block++) {
      free.add(block);
      tokens.add(List.of());
      names.add(List.of());
    }
  }

  /** The longest run of full prompt blocks that are known; a name is all tokens up to its end. */
  List<Integer> cached(ReferenceRequest request) {
    var found = new ArrayList<Integer>();
    for (int end = blockTokens; end <= request.prompt; end += blockTokens) {
      var block = known.get(request.tokens.subList(0, end));
      if (block == null) break;
      found.add(block);
    }
    return found;
  }

  /** Takes blocks for the tokens from start to end; false, and nothing changes, without room. */
  boolean allocate(ReferenceRequest request, int start, int end, List<Integer> cached) {
    boolean isPrefill = request.progress < request.prompt;
    var own = owned.get(request);
    int spare = own == null ? 0 : blockTokens - tokens.get(own.getLast()).size();
    int needed = Math.max(0, Math.ceilDiv(end - start - spare, blockTokens));
    for (int block : cached) if (holders[block] == 0) needed++;
    if (needed > free.size()) return false;
    if (start == end) return true;
    var held = owned.computeIfAbsent(request, _ -> claim(cached));
    for (int at = start; at < end; ) {
      boolean isNew = held.isEmpty() || tokens.get(held.getLast()).size() == blockTokens;
      if (isNew) held.add(allocate());
      int block = held.getLast();
      int more = Math.min(blockTokens - tokens.get(block).size(), end - at);
      var content = new ArrayList<>(tokens.get(block));
      content.addAll(request.tokens.subList(at, at + more));
      tokens.set(block, content);
      at += more;
      if (content.size() == blockTokens && (isPrefill || !isNew)) register(held);
    }
    return true;
  }

  private List<Integer> claim(List<Integer> cached) {
    for (int block : cached) {
      if (holders[block]++ == 0) free.remove(block);
    }
    return new ArrayList<>(cached);
  }

  private int allocate() {
    int block = free.removeFirst();
    if (!names.get(block).isEmpty()) known.remove(names.get(block));
    names.set(block, List.of());
    tokens.set(block, List.of());
    holders[block] = 1;
    return block;
  }

  /** Names the last block by what is in all of them. */
  private void register(List<Integer> held) {
    var name = new ArrayList<Long>();
    for (int block : held) name.addAll(tokens.get(block));
    names.set(held.getLast(), name);
    known.put(name, held.getLast());
  }

  void release(ReferenceRequest request) {
    var held = owned.remove(request);
    if (held == null) return;
    for (int block : held.reversed()) {
      if (--holders[block] == 0) free.addLast(block);
    }
  }
}
