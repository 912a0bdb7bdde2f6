package dev.kvasir.embedded;

import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.Nullable;
import dev.kvasir.embedded.step.AnswerSteps;
import dev.kvasir.embedded.step.Generation;
import dev.kvasir.embedded.step.GenerationEnd;
import dev.kvasir.embedded.step.GenerationListener;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.embedded.step.Piece;
import dev.kvasir.embedded.step.WatchedLoop;
import dev.kvasir.engine.Engine;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.SequenceRequest;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.KvStore;
import dev.kvasir.kv.ResettableKv;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockHasher;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.kv.name.TokenSequence;
import dev.kvasir.model.ModelShape;
import dev.kvasir.tiers.SharedTierLookup;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntConsumer;

/** An engine with a real model behind it: prompts in, answers out. Belongs to one loop. */
public final class EmbeddedEngine {
  private static final System.Logger LOG = System.getLogger(EmbeddedEngine.class.getName());

  /** Number of tenants' hashers that are kept; the least recently used goes first. */
  private static final int HASHERS_MAX = 1_024;

  /**
   * Parts of an engine.
   *
   * @param kv its memory and what lies below
   * @param top its memory alone
   * @param shared the first tier that others see too; null where there is none
   * @param look asks what other processes have stored
   * @param events events of the blocks of its own memory
   * @param resets resets its caches, and those of whoever shares them
   */
  record Parts(
      String name,
      EventLoop loop,
      ServedModel model,
      ResettableKv kv,
      BlockPool top,
      @Nullable BlockPool shared,
      SharedTierLookup look,
      KvEvents events,
      CacheResets resets) {}

  private final Parts parts;
  private final AnswerSteps steps;
  private final Engine engine;
  private final SessionEnds sessions = new SessionEnds();
  private volatile boolean broken;
  private String generation = "";
  private final Map<String, BlockHasher> hashers = new LinkedHashMap<>(16, 0.75f, true);

  EmbeddedEngine(Parts parts, Function<WatchedLoop, AnswerSteps> steps, EngineSettings settings) {
    this.parts = parts;
    var loop = new WatchedLoop(parts.loop(), this::breakDown);
    this.steps = steps.apply(loop);
    var within = settings.withContext(parts.model().contextTokens());
    this.engine = new Engine(loop, parts.kv(), this.steps, within, System::nanoTime);
    // Nearly everybody asks without a salt: the first of them need not wait for it.
    var _ = hasher("");
  }

  public String name() {
    return parts.name();
  }

  public EventLoop loop() {
    return parts.loop();
  }

  public ServedModel model() {
    return parts.model();
  }

  public KvStore kv() {
    return parts.kv();
  }

  /** Its own memory, in which it computes. */
  public BlockPool memory() {
    return parts.top();
  }

  /** The first tier that others see too; null where there is none. */
  @Nullable
  BlockPool shared() {
    return parts.shared();
  }

  /**
   * Learns what other processes have stored of a prompt, and goes on with the request and the names
   * of its blocks; at once where there are no tiers to ask, or nothing is missing here.
   */
  public void learn(GenerationRequest request, Consumer<GenerationRequest> then) {
    if (parts.look().isIdle()) {
      then.accept(request);
      return;
    }
    var tokens = new TokenSequence(hasher(request.salt()), ModelShape.BLOCK_TOKENS);
    var _ = tokens.begin(request.prompt(), ownNames(request));
    var blocks = new ArrayList<TokenBlock>();
    for (int i = 0; i < tokens.hashes().size(); i++) blocks.add(tokens.block(i));
    var named = request.named(tokens.hashes());
    parts.look().learn(loop(), blocks, parts.top()::has, () -> then.accept(named));
  }

  /**
   * The names that a request brings, or none: those that were given before a reset, for another
   * model or with another salt differ from the first block on.
   */
  private List<BlockHash> ownNames(GenerationRequest request) {
    if (request.names().isEmpty()) return List.of();
    var hasher = hasher(request.salt());
    var first = hasher.hash(null, request.prompt(), 0, ModelShape.BLOCK_TOKENS, List.of());
    return first.equals(request.names().getFirst()) ? request.names() : List.of();
  }

  /** Returns the events of the blocks of its own memory. */
  public KvEvents events() {
    return parts.events();
  }

  /** Begins an answer; a refusal reaches the listener before this returns. */
  public Generation submit(GenerationRequest submitted, GenerationListener listener) {
    var request = submitted.named(ownNames(submitted));
    var generation =
        new Generation(request, forgetting(listener), model().tokenizer(), hasher(request.salt()));
    if (broken) {
      listener.ended(generation, outOfOrder());
      return generation;
    }
    var sequence =
        engine.submit(
            new SequenceRequest(
                    request.id(),
                    generation,
                    request.prompt().length,
                    request.tokensMax(),
                    request.priority(),
                    loop().nanos())
                .withHint(sessions.hint(request)),
            generation);
    generation.begin(sequence);
    if (sequence.state() != Sequence.State.ENDED) steps.answers().add(generation);
    return generation;
  }

  private GenerationListener forgetting(GenerationListener listener) {
    return new GenerationListener() {
      private boolean over;

      @Override
      public void grown(Generation generation, Piece piece) {
        if (!over) listener.grown(generation, piece);
      }

      @Override
      public void ended(Generation generation, GenerationEnd end) {
        if (over) return;
        over = true;
        if (!(end instanceof GenerationEnd.Refused)) steps.answers().remove(generation.sequence());
        sessions.ended(generation);
        listener.ended(generation, end);
      }
    };
  }

  /**
   * An unexpected failure. The state of the engine cannot be trusted any more: all requests fail,
   * those that wait and new ones.
   */
  private void breakDown(Throwable failure) {
    LOG.log(ERROR, name() + " is out of order until it is started again", failure);
    broken = true;
    for (var generation : steps.answers().all()) generation.fail(outOfOrder());
  }

  /**
   * The device has lost all that was in it. Whoever waits for an answer hears that there is none,
   * and so does whoever comes until {@link #restore}.
   */
  void suspend() {
    broken = true;
    var end = new GenerationEnd.Failed(name() + " lost its GPU and is started again: ask again");
    for (var generation : steps.answers().all()) {
      generation.fail(end);
      engine.abort(generation.sequence());
    }
  }

  /** The device was started again: nothing of what was in its memory is there. */
  void restore() {
    engine.resetCache(parts.top()::clear, _ -> broken = false);
  }

  private GenerationEnd outOfOrder() {
    return new GenerationEnd.Failed(
        name() + " is out of order: ask another one, and start it again; its log says why");
  }

  /** Returns whether the engine is broken and cannot answer; may be asked from any thread. */
  public boolean isBroken() {
    return broken;
  }

  /** The conversation is over: nobody will ask for its blocks again. */
  void endSession(String session) {
    sessions.end(session, kv());
  }

  /** Gives an answer up. */
  public void abort(Generation generation) {
    if (!broken) engine.abort(generation.sequence());
  }

  /** Stops serving; see {@link Engine#pause}. */
  public void pause(Engine.PauseMode mode, Runnable done) {
    engine.pause(mode, done);
  }

  public void resume() {
    engine.resume();
  }

  /** Resets the caches of this engine and of all that share them; see {@link CacheResets}. */
  public void resetCache(Consumer<ResetReport> done) {
    parts.resets().reset(done);
  }

  /** Forgets all that is cached and not in use; tells how many blocks that were. */
  void forget(IntConsumer done) {
    if (broken) done.accept(0);
    else engine.resetCache(parts.kv()::clear, done);
  }

  public Engine.Load load() {
    return engine.load();
  }

  /** Returns what the device did for its steps, if it has a clock of its own. */
  public Optional<AnswerSteps.DeviceTime> deviceTime() {
    return steps.deviceTime();
  }

  /** Returns the number of answers in the making. */
  public int answering() {
    return steps.answers().size();
  }

  private BlockHasher hasher(String salt) {
    var now = parts.resets().generation();
    if (!now.equals(generation)) {
      hashers.clear();
      generation = now;
    }
    var known = hashers.get(salt);
    if (known != null) return known;
    if (hashers.size() == HASHERS_MAX) hashers.remove(hashers.keySet().iterator().next());
    var made = parts.resets().hasher(model(), salt);
    hashers.put(salt, made);
    return made;
  }
}
