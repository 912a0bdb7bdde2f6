package dev.kvasir.tiers.shared;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * Asks a server which blocks it has. A few batches are in flight; questions that arrive meanwhile
 * wait, and go together in the next batch.
 *
 * <p>A question without room is answered at once as unknown, and counted.
 */
final class LookupQueue {
  private static final System.Logger LOG = System.getLogger(LookupQueue.class.getName());

  /** Most blocks that one batch asks for, unless one question alone asks for more. */
  static final int BATCH_BLOCKS = 256;

  /** Asks the server; blocks, and may throw anything. */
  interface Server {
    Map<BlockHash, Presence> look(List<TokenBlock> blocks) throws Exception;
  }

  private record Question(List<TokenBlock> blocks, Consumer<List<Presence>> done) {}

  private final Server server;
  private final int batchesMax;
  private final int waitingMax;
  private final Deque<Question> waiting = new ArrayDeque<>();
  private int batches;
  final LongAdder lookups = new LongAdder();
  final LongAdder refused = new LongAdder();
  final LongAdder failed = new LongAdder();

  LookupQueue(Server server, int batchesMax, int waitingMax) {
    this.server = server;
    this.batchesMax = batchesMax;
    this.waitingMax = waitingMax;
  }

  /** Looks the blocks up; the answer comes from any thread. */
  void lookUp(List<TokenBlock> blocks, Consumer<List<Presence>> done) {
    lookups.increment();
    boolean accepted;
    boolean begins = false;
    synchronized (this) {
      accepted = batches < batchesMax || waiting.size() < waitingMax;
      if (accepted) waiting.add(new Question(List.copyOf(blocks), done));
      if (accepted && batches < batchesMax) {
        batches++;
        begins = true;
      }
    }
    if (!accepted) {
      refused.increment();
      done.accept(unknown(blocks));
    } else if (begins) {
      Thread.startVirtualThread(this::run);
    }
  }

  /** Returns how many questions wait. */
  synchronized int waiting() {
    return waiting.size();
  }

  private void run() {
    for (var batch = nextBatch(); !batch.isEmpty(); batch = nextBatch()) answer(batch);
  }

  private synchronized List<Question> nextBatch() {
    var batch = new ArrayList<Question>();
    int blocks = 0;
    while (!waiting.isEmpty()) {
      int more = waiting.element().blocks.size();
      if (!batch.isEmpty() && blocks + more > BATCH_BLOCKS) break;
      batch.add(waiting.remove());
      blocks += more;
    }
    if (batch.isEmpty()) batches--;
    return batch;
  }

  private void answer(List<Question> batch) {
    var blocks = new LinkedHashMap<BlockHash, TokenBlock>();
    for (var question : batch) {
      for (var block : question.blocks) blocks.putIfAbsent(block.hash(), block);
    }
    Map<BlockHash, Presence> there = new LinkedHashMap<>();
    try {
      there = server.look(List.copyOf(blocks.values()));
    } catch (Exception | Error e) {
      failed.add(batch.size());
      // The 1st, 2nd, 4th, 8th ...: a server that is down must not fill a disk with warnings.
      if (Long.bitCount(failed.sum()) == 1) {
        LOG.log(WARNING, "asking for {0} blocks failed: {1}", blocks.size(), e.getMessage());
      }
    }
    for (var question : batch) {
      var presences = new ArrayList<Presence>();
      for (var block : question.blocks) {
        presences.add(there.getOrDefault(block.hash(), Presence.UNKNOWN));
      }
      deliver(question, presences);
    }
  }

  /** Hands an answer on; a receiver that throws does not keep the others from theirs. */
  private static void deliver(Question question, List<Presence> presences) {
    try {
      question.done.accept(presences);
    } catch (RuntimeException | Error e) {
      LOG.log(WARNING, "an answer about " + presences.size() + " blocks was not taken", e);
    }
  }

  private static List<Presence> unknown(List<TokenBlock> blocks) {
    var unknown = new ArrayList<Presence>();
    for (var _ : blocks) unknown.add(Presence.UNKNOWN);
    return unknown;
  }
}
