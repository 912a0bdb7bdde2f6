package dev.kvasir.events;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.KvSubscription;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Puts what becomes of our own blocks into the words of vLLM, a batch per turn of the engine's
 * loop. Blocks stored one behind the other become one event.
 */
public final class KvEventForwarder implements AutoCloseable {
  private static final int EVENTS_MAX = 1_000;
  private static final char TENANT_END = '\0';

  private final EventLoop loop;
  private final EngineHash.Form form;
  private final Consumer<List<EngineEvent>> batches;
  private final KvSubscription subscription;

  /** Blocks that follow each other and have not become an event yet, all on one tier. */
  private final List<TokenBlock> run = new ArrayList<>();

  private @Nullable Tier runTier;
  private List<EngineEvent> outgoing = new ArrayList<>();

  /**
   * Begins to listen, on the loop of the engine.
   *
   * @param eventsMax events that may wait for the next turn; if more come, a clearing is published
   */
  public KvEventForwarder(
      EventLoop loop,
      KvEvents events,
      int eventsMax,
      EngineHash.Form form,
      Consumer<List<EngineEvent>> batches) {
    this.loop = loop;
    this.form = form;
    this.batches = batches;
    this.subscription = events.subscribe(eventsMax, () -> loop.execute(this::forward));
  }

  @Override
  public void close() {
    subscription.close();
  }

  private void forward() {
    int count = 0;
    for (var event = next(count); event != null; event = next(++count)) add(event);
    endRun();
    if (!outgoing.isEmpty()) {
      batches.accept(outgoing);
      outgoing = new ArrayList<>();
    }
    if (subscription.waiting() > 0) loop.execute(this::forward);
  }

  private @Nullable KvEvent next(int count) {
    return count < EVENTS_MAX ? subscription.poll() : null;
  }

  private void add(KvEvent event) {
    switch (event) {
      case KvEvent.Stored(var tier, var block) -> {
        if (!continuesRun(tier, block)) endRun();
        run.add(block);
        runTier = tier;
      }
      case KvEvent.Removed(var tier, var hash) -> {
        endRun();
        outgoing.add(new EngineEvent.Removed(List.of(form.of(hash)), place(tier), null));
      }
      case KvEvent.Lost _ -> {
        endRun();
        outgoing.add(new EngineEvent.Cleared());
      }
    }
  }

  private boolean continuesRun(Tier tier, TokenBlock block) {
    if (run.isEmpty()) return false;
    var last = run.getLast();
    return tier == runTier && last.hash().equals(block.parent()) && last.length() == block.length();
  }

  private void endRun() {
    if (run.isEmpty() || runTier == null) return;
    var first = run.getFirst();
    int blockTokens = first.length();
    var tokens = new int[run.size() * blockTokens];
    for (int i = 0; i < run.size(); i++) {
      System.arraycopy(run.get(i).tokens(), 0, tokens, i * blockTokens, blockTokens);
    }
    outgoing.add(
        new EngineEvent.Stored(
            run.stream().map(block -> form.of(block.hash())).toList(),
            named(first.parent()),
            tokens,
            blockTokens,
            EngineEvent.Adapter.NONE,
            place(runTier),
            salted(first),
            EngineEvent.Group.ONLY));
    run.clear();
  }

  /**
   * The salt is told with the block that begins a sequence, as vLLM does: that of the request,
   * which the engine puts behind the tenant of its own caller.
   */
  private static List<List<EngineEvent.KeyPart>> salted(TokenBlock first) {
    var salt = first.salt().substring(first.salt().indexOf(TENANT_END) + 1);
    if (salt.isEmpty() || first.parent() != null) return List.of();
    return List.of(List.of(new EngineEvent.KeyPart.Text(salt)));
  }

  private @Nullable EngineHash named(@Nullable BlockHash hash) {
    return hash == null ? null : form.of(hash);
  }

  /** Returns what vLLM calls a tier. */
  public static EngineEvent.Place place(Tier tier) {
    return switch (tier) {
      case DEVICE -> new EngineEvent.Place("GPU", null);
      case HOST -> new EngineEvent.Place("CPU", null);
      case DISK -> new EngineEvent.Place("STORAGE", "LOCAL");
      case REMOTE -> new EngineEvent.Place("CPU", "REMOTE");
      case OBJECT -> new EngineEvent.Place("STORAGE", "REMOTE");
    };
  }
}
