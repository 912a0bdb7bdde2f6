package dev.kvasir.sim.latency;

import dev.kvasir.sim.latency.StepShape.Prefill;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/** One engine, first come first served, just large enough to ask a latency model every question. */
final class SmallEngine {
  private final LatencyModel model;
  private final Limits limits;
  private final Cache cache;
  private final ArrayDeque<Job> waiting = new ArrayDeque<>();
  private final List<Job> running = new ArrayList<>();

  SmallEngine(LatencyModel model, Limits limits) {
    this.model = model;
    this.limits = limits;
    cache = new Cache(limits.blocks, limits.blockTokens);
  }

  record Limits(
      int sequencesMax, int tokensMax, int pieceMax, int contextMax, int blocks, int blockTokens) {}

  /** A request on its way; the group is empty where no other request has the same prefix. */
  static final class Job {
    final String id;
    final long arrival;
    final String group;
    final int prefix;
    final int prompt;
    final int output;
    int done;
    int piece;
    int computed;
    long queued;
    long ttft = -1;
    long e2e = -1;
    long delay = -1;
    long between;
    List<Block> blocks = new ArrayList<>();
    int filled;

    Job(String id, long arrival, String group, int prefix, int prompt, int output) {
      this.id = id;
      this.arrival = arrival;
      this.group = group;
      this.prefix = prefix;
      this.prompt = prompt;
      this.output = output;
    }

    String key(int block, int blockTokens) {
      boolean shared = !group.isEmpty() && (block + 1) * blockTokens <= prefix;
      return shared ? group + "/" + block : id + "#" + block;
    }
  }

  void run(List<Job> jobs) {
    for (var job : jobs) job.queued = job.arrival + model.queueingMicros(job.prompt);
    var arrivals = new ArrayDeque<Job>();
    jobs.stream()
        .sorted(
            Comparator.comparingLong((Job job) -> job.queued).thenComparingLong(job -> job.arrival))
        .forEach(arrivals::add);
    long now = 0;
    while (!arrivals.isEmpty() || !waiting.isEmpty() || !running.isEmpty()) {
      // A step in which everything ends leaves nothing that would wait for its end.
      if (waiting.isEmpty() && running.isEmpty()) now = arrivals.getFirst().queued;
      while (!arrivals.isEmpty() && arrivals.getFirst().queued <= now) {
        waiting.add(arrivals.removeFirst());
      }
      now += step(now);
    }
  }

  private long step(long now) {
    form(now);
    var prefills = new ArrayList<Prefill>();
    int decodes = 0;
    long context = 0;
    for (var job : running) {
      if (job.piece == 0) continue;
      if (job.done < job.prompt) {
        prefills.add(new Prefill(job.piece, job.done, job.prompt));
      } else {
        decodes++;
        context += job.done;
      }
    }
    long stepMicros =
        prefills.isEmpty()
            ? model.decodeMicros(decodes, context)
            : model.stepMicros(new StepShape(prefills, decodes, context));
    long token = stepMicros + model.outputTokenMicros();
    for (var job : running) {
      if (job.done < job.prompt) {
        job.done = job.computed;
      } else if (job.piece > 0) {
        job.done++;
        job.between += token;
      }
      if (job.done == job.prompt && job.ttft < 0) job.ttft = now + token - job.arrival;
    }
    running.removeIf(this::leave);
    return stepMicros;
  }

  private boolean leave(Job job) {
    if (job.done < job.prompt + Math.max(job.output, 1) - 1) return false;
    if (job.output > 0) cache.allocate(job, 1, List.of());
    cache.release(job);
    job.e2e = job.ttft + job.between + (job.output > 0 ? model.afterDecodeMicros() : 0);
    return true;
  }

  private void form(long now) {
    int budget = limits.tokensMax;
    for (var job : running) job.piece = 0;
    for (var job : running) {
      if (budget == 0) break;
      int piece = job.done < job.prompt ? piece(job.prompt - job.done, budget) : 1;
      if (job.done >= job.prompt && job.output == 0) continue;
      if (!cache.allocate(job, piece, List.of())) {
        throw new IllegalStateException(job.id + " would be preempted, which this engine cannot");
      }
      job.piece = piece;
      job.computed += piece;
      budget -= piece;
    }
    while (running.size() < limits.sequencesMax && !waiting.isEmpty() && budget > 0) {
      var job = waiting.getFirst();
      var hits = cache.find(job);
      int start = hits.size() * limits.blockTokens;
      int piece = piece(job.prompt - start, budget);
      if (!cache.allocate(job, piece, hits)) break;
      waiting.removeFirst();
      running.add(job);
      job.delay = now - job.arrival;
      // The recorded runs bill a first piece as if nothing were cached before it.
      job.done = 0;
      job.piece = piece;
      job.computed = start + piece;
      budget -= piece;
    }
  }

  private int piece(int left, int budget) {
    int piece = limits.pieceMax > 0 ? Math.min(left, limits.pieceMax) : left;
    return Math.min(piece, budget);
  }

  static final class Block {
    String key = "";
    int holders;
  }

  private static final class Cache {
    final int blockTokens;
    final LinkedHashSet<Block> free = new LinkedHashSet<>();
    final Map<String, Block> known = new HashMap<>();

    Cache(int blocks, int blockTokens) {
      this.blockTokens = blockTokens;
      for (int i = 0; i < blocks; i++) free.add(new Block());
    }

    List<Block> find(Job job) {
      var hits = new ArrayList<Block>();
      for (int i = 0; (i + 1) * blockTokens <= job.prompt; i++) {
        var block = known.get(job.key(i, blockTokens));
        if (block == null) break;
        hits.add(block);
      }
      return hits;
    }

    boolean allocate(Job job, int tokens, List<Block> hits) {
      int room = job.blocks.size() * blockTokens - job.filled;
      int need = Math.ceilDiv(Math.max(0, tokens - room), blockTokens);
      if (need + hits.stream().filter(free::contains).count() > free.size()) return false;
      if (tokens == 0) return true;
      for (var hit : hits) {
        free.remove(hit);
        hit.holders++;
        job.blocks.add(hit);
        job.filled += blockTokens;
      }
      for (int i = 0; i < tokens; i++) {
        if (job.filled == job.blocks.size() * blockTokens) job.blocks.add(allocate());
        job.filled++;
        if (job.filled == job.blocks.size() * blockTokens) {
          var block = job.blocks.getLast();
          block.key = job.key(job.blocks.size() - 1, blockTokens);
          known.put(block.key, block);
        }
      }
      return true;
    }

    Block allocate() {
      var block = free.removeFirst();
      known.remove(block.key);
      block.key = "";
      block.holders = 1;
      return block;
    }

    void release(Job job) {
      for (var block : job.blocks.reversed()) if (--block.holders == 0) free.add(block);
      job.blocks = List.of();
    }
  }
}
