package dev.kvasir.events;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Sha256Hasher;
import dev.kvasir.kv.name.TokenSequence;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * An engine on real sockets whose batches get lost, come twice or in another order, and which
 * begins anew; it repeats what it is asked for. Used by one thread.
 */
final class FaultyEngine implements AutoCloseable {
  static final int BLOCK_TOKENS = 4;
  static final String MODEL = "model";

  private static final int CHAIN_BLOCKS = 6;

  private final RandomGenerator random;
  private final EventEncoding encoding;
  private final ZMQ.Socket live;
  private final ZMQ.Socket replay;
  private final List<byte[]> history = new ArrayList<>();
  private final List<Integer> held = new ArrayList<>();

  /** Number of cached blocks of each prompt. */
  private final LinkedHashMap<Integer, Integer> cached = new LinkedHashMap<>();

  private double seconds;
  private int life;

  FaultyEngine(ZContext sockets, RandomGenerator random, EventEncoding encoding) {
    this.random = random;
    this.encoding = encoding;
    this.live = sockets.createSocket(SocketType.PUB);
    this.replay = sockets.createSocket(SocketType.ROUTER);
    live.bind(PublisherSettings.LOOPBACK);
    replay.setSndHWM(0);
    replay.bind(PublisherSettings.LOOPBACK);
  }

  String endpoint() {
    return live.getLastEndpoint();
  }

  String replayEndpoint() {
    return replay.getLastEndpoint();
  }

  /** The names of everything it has cached. */
  Set<BlockHash> truth() {
    var names = new LinkedHashSet<BlockHash>();
    cached.forEach((prompt, blocks) -> names.addAll(sequence(prompt).hashes().subList(0, blocks)));
    return names;
  }

  void restart() {
    life++;
    cached.clear();
    history.clear();
    held.clear();
  }

  /** A step, of which the world hears with luck. */
  void faultyStep() {
    int sequence = step();
    int luck = random.nextInt(12);
    if (luck == 0) return;
    if (luck == 1) {
      held.add(sequence);
      return;
    }
    send(sequence);
    if (luck == 2) send(sequence);
    if (luck == 3) sendHeld();
  }

  void calmStep() {
    sendHeld();
    send(step());
  }

  /** Something that no engine would say. */
  void babble() {
    var noise = new byte[random.nextInt(60)];
    random.nextBytes(noise);
    for (int i = random.nextInt(5); i > 0; i--) live.sendMore(noise);
    live.send(noise);
  }

  private void sendHeld() {
    held.forEach(this::send);
    held.clear();
  }

  private int step() {
    var events = new ArrayList<EngineEvent>();
    for (int i = random.nextInt(3); i >= 0; i--) events.add(change());
    seconds += 1;
    history.add(EventEncoder.encode(new EngineBatch(seconds, events, 0), encoding));
    return history.size() - 1;
  }

  /** A prompt grows or shrinks by some blocks. */
  private EngineEvent change() {
    int prompt = random.nextInt(40);
    int before = cached.getOrDefault(prompt, 0);
    int after = random.nextInt(CHAIN_BLOCKS + 1);
    cached.put(prompt, after);
    var place = new EngineEvent.Place("GPU", null);
    if (after <= before) {
      return new EngineEvent.Removed(engineHashes(prompt, after, before), place, null);
    }
    return new EngineEvent.Stored(
        engineHashes(prompt, before, after),
        parent(prompt, before),
        sequence(prompt).tokens(before * BLOCK_TOKENS, after * BLOCK_TOKENS),
        BLOCK_TOKENS,
        EngineEvent.Adapter.NONE,
        place,
        List.of(),
        EngineEvent.Group.ONLY);
  }

  private @Nullable EngineHash parent(int prompt, int block) {
    return block == 0 ? null : engineHashes(prompt, block - 1, block).getFirst();
  }

  /** Other names in each life, as of an engine with a random seed. */
  private List<EngineHash> engineHashes(int prompt, int from, int to) {
    var hashes = new ArrayList<EngineHash>();
    for (int i = from; i < to; i++) {
      hashes.add(new EngineHash.Word(-1L - (life * 1_000_003L + prompt * 101L + i)));
    }
    return hashes;
  }

  private static TokenSequence sequence(int prompt) {
    var sequence = new TokenSequence(new Sha256Hasher(MODEL, ""), BLOCK_TOKENS);
    for (int i = 0; i < CHAIN_BLOCKS * BLOCK_TOKENS; i++) sequence.append(prompt * 1_000 + i);
    return sequence;
  }

  private void send(int sequence) {
    live.sendMore("topic");
    live.sendMore(WireFrames.number(sequence));
    live.send(history.get(sequence));
  }

  /** Answers those who ask; some in the words of an older engine. */
  void answer() {
    for (var frames = WireFrames.of(replay); !frames.isEmpty(); frames = WireFrames.of(replay)) {
      int from = (int) WireFrames.requestedSequence(frames);
      boolean topics = random.nextBoolean();
      for (int i = from; i < history.size(); i++) reply(frames.getFirst(), topics, i);
      reply(frames.getFirst(), topics, -1);
    }
  }

  private void reply(byte[] peer, boolean topics, int sequence) {
    replay.sendMore(peer);
    replay.sendMore(WireFrames.EMPTY);
    if (topics) replay.sendMore("topic");
    replay.sendMore(WireFrames.number(sequence));
    replay.send(sequence < 0 ? WireFrames.EMPTY : history.get(sequence));
  }

  @Override
  public void close() {
    live.close();
    replay.close();
  }
}
