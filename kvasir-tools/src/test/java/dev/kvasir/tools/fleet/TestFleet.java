package dev.kvasir.tools.fleet;

import dev.kvasir.embedded.PacedEngines;
import dev.kvasir.embedded.ServedModel;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.ModelBackend;
import dev.kvasir.events.PublisherSettings;
import dev.kvasir.model.PocketModel;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** Fleets whose steps take as long as a test says. */
public final class TestFleet {
  public static final String MODEL = "look-alike";

  private static final int CONTEXT_TOKENS = 8_192;
  private static final Duration CARRY = Duration.ofMillis(1);

  private TestFleet() {}

  /** So many workers for this machine alone, on free ports. */
  public static FleetSettings settings(int workers) {
    return new FleetSettings(workers, HttpSettings.LOOPBACK, 0, 8_192, EngineSettings.DEFAULT);
  }

  /** A fleet; how long a step takes is asked before each. */
  public static Fleet start(FleetSettings settings, Supplier<Duration> step) throws IOException {
    return start(settings, loop -> steps(loop, step));
  }

  /** A fleet that can repeat no more than the last few batches of its KV events. */
  public static Fleet forgetful(FleetSettings settings, Supplier<Duration> step, int batches)
      throws IOException {
    var model = ServedModel.withoutWeights(MODEL, PocketModel.folder(), CONTEXT_TOKENS);
    var usual = PublisherSettings.loopback("kv-events");
    var publisher =
        new PublisherSettings(
            usual.endpoint(),
            usual.replayEndpoint(),
            usual.topic(),
            usual.encoding(),
            usual.queueMax(),
            usual.peerQueueMax(),
            batches,
            usual.replayBytesMax());
    return Fleet.start(
        model, settings, new PacedEngines.Pace(loop -> steps(loop, step), Way::new), publisher);
  }

  /** A fleet whose steps end when the test lets them. */
  public static Fleet start(FleetSettings settings, Function<EventLoop, ModelBackend> steps)
      throws IOException {
    var model = ServedModel.withoutWeights(MODEL, PocketModel.folder(), CONTEXT_TOKENS);
    return Fleet.start(model, settings, new PacedEngines.Pace(steps, Way::new));
  }

  private static ModelBackend steps(EventLoop loop, Supplier<Duration> step) {
    return (_, done) -> loop.after(step.get(), () -> done.accept(ModelBackend.StepResult.UNSEEN));
  }

  /** A way to the memory that all share, which takes a moment. */
  private record Way(EventLoop loop) implements TierStore {
    @Override
    public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      carry(copies.size(), done);
    }

    @Override
    public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      carry(copies.size(), done);
    }

    private void carry(int count, Consumer<List<CopyOutcome>> done) {
      loop.after(CARRY, () -> done.accept(Collections.nCopies(count, CopyOutcome.COPIED)));
    }
  }
}
