package dev.kvasir.gpu.engine;

import dev.kvasir.Nullable;
import dev.kvasir.embedded.ModelDevice.Room;
import dev.kvasir.embedded.ModelDevice.Wanted;
import dev.kvasir.embedded.step.AheadSteps;
import dev.kvasir.embedded.step.AnswerSteps;
import dev.kvasir.embedded.step.BehindSteps;
import dev.kvasir.embedded.step.DeviceLost;
import dev.kvasir.embedded.step.LaunchedModel;
import dev.kvasir.embedded.step.WatchedLoop;
import dev.kvasir.gpu.CudaEvent;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.model.GpuFeed;
import dev.kvasir.gpu.model.GpuRow;
import dev.kvasir.gpu.model.GpuStep;
import dev.kvasir.gpu.tier.DeviceLayout;
import dev.kvasir.gpu.tier.DeviceMemory;
import dev.kvasir.gpu.tier.DeviceStore;
import dev.kvasir.gpu.tier.DeviceTier;
import dev.kvasir.model.StepRow;
import dev.kvasir.model.sample.SamplingSettings;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.TierStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The part of a GPU model that one engine uses: its blocks and steps. */
final class GpuRoom implements Room, LaunchedModel {
  private static final int COPIES_MAX = 16_384;

  private final GpuDevice owner;
  private final Wanted wanted;
  private final int firstSlot;
  private volatile Resources resources;
  private @Nullable AheadSteps steps;

  /** Its resources on the GPU. */
  private record Resources(GpuFeed feed, @Nullable DeviceTier tier) {}

  GpuRoom(GpuDevice owner, Wanted wanted, int firstSlot) throws IOException {
    this.owner = owner;
    this.wanted = wanted;
    this.firstSlot = firstSlot;
    this.resources = allocate();
  }

  private Resources allocate() throws IOException {
    var feed = owner.model().feed();
    var tiers = wanted.tiers();
    if (tiers == null) return new Resources(feed, null);
    var layout = DeviceLayout.contiguous(wanted.blocks(), owner.shape().blockBytes());
    var memory = DeviceMemory.over(owner.device(), layout, List.of(owner.address(firstSlot)));
    return new Resources(feed, DeviceTier.over(wanted.loop(), memory, tiers.memory(), COPIES_MAX));
  }

  /** Lets go of what it has of a GPU that is lost. */
  void release() {
    var tier = resources.tier;
    if (tier != null) tier.close();
  }

  /** Takes the same of a GPU that was started again. */
  void renew() throws IOException {
    resources = allocate();
  }

  @Override
  public AnswerSteps steps(WatchedLoop loop) {
    var made =
        new AheadSteps(
            this,
            wanted.launching(),
            wanted.thread(),
            owner.waiter(),
            loop,
            wanted.times(),
            wanted.lost());
    steps = made;
    return made;
  }

  @Override
  public TierStore down() {
    return new BehindSteps(
        new CurrentStore(this),
        wanted.thread(),
        wanted.loop(),
        () -> mark(event -> store().storeAfter(event)),
        () -> mark(event -> store().loadAfter(event)));
  }

  private DeviceStore store() {
    var tier = resources.tier;
    if (tier == null) throw new IllegalStateException(wanted.name() + " has no tiers below");
    return tier.store();
  }

  /** The store of the current tier, which changes when the GPU is restarted. */
  private record CurrentStore(GpuRoom room) implements TierStore {
    @Override
    public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      room.store().store(copies, done);
    }

    @Override
    public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      room.store().load(copies, done);
    }
  }

  /** An event behind the steps launched so far; whoever gets it closes it. */
  private Runnable mark(Consumer<CudaEvent> wait) throws CudaFailure {
    owner.device().bind();
    var event = owner.device().event();
    try {
      owner.model().mark(event);
    } catch (CudaFailure lost) {
      event.close();
      throw lost;
    }
    return () -> wait.accept(event);
  }

  @Override
  public void whenSettled(Runnable then) {
    if (steps == null) then.run();
    else steps.whenLanded(then);
  }

  @Override
  public int vocabulary() {
    return owner.shape().vocabulary();
  }

  @Override
  public boolean chooses(SamplingSettings sampling) {
    boolean isPlain =
        sampling.repetitionPenalty() == 1
            && sampling.presencePenalty() == 0
            && sampling.frequencyPenalty() == 0
            && sampling.logprobs() == 0;
    boolean isFromAll = sampling.topK() == 0 && sampling.topP() == 1 && sampling.minP() == 0;
    return isPlain && (sampling.temperature() == 0 || isFromAll);
  }

  @Override
  public Launch launch(List<StepRow> rows, List<SamplingSettings> sampling) throws IOException {
    var all = new ArrayList<GpuRow>(rows.size());
    for (int i = 0; i < rows.size(); i++) all.add(row(rows.get(i), sampling.get(i)));
    try {
      owner.device().bind();
      return new Launched(owner, owner.model().launch(all, resources.feed));
    } catch (CudaFailure failure) {
      throw failure(failure);
    }
  }

  private static IOException failure(CudaFailure failure) {
    if (!failure.isContextLost()) return failure;
    return new DeviceLost(failure.getMessage(), failure);
  }

  private GpuRow row(StepRow row, SamplingSettings sampling) {
    var slots = row.blocks().clone();
    for (int i = 0; i < slots.length; i++) slots[i] += firstSlot;
    return new GpuRow(row.tokens(), row.firstPosition(), slots, choice(row, sampling));
  }

  private GpuRow.Choice choice(StepRow row, SamplingSettings sampling) {
    if (!row.sampled()) return new GpuRow.Choice.None();
    if (sampling.temperature() == 0 || !chooses(sampling)) return new GpuRow.Choice.Likeliest();
    return new GpuRow.Choice.Drawn((float) sampling.temperature(), sampling.seed());
  }

  /** A step on its way. */
  private record Launched(GpuDevice owner, GpuStep step) implements Launch {
    @Override
    public void await() throws IOException {
      try {
        owner.device().bind();
        step.await();
      } catch (CudaFailure failure) {
        throw failure(failure);
      }
    }

    @Override
    public int token(int sample) {
      return step.token(sample);
    }

    @Override
    public float[] logits(int sample) throws IOException {
      return owner.model().logits(sample);
    }

    @Override
    public long nanos() {
      return (long) (1e6 * step.millis());
    }

    @Override
    public long idleNanos() {
      return (long) (1e6 * step.idleMillis());
    }
  }

  @Override
  public void close() {
    owner.release(this, firstSlot, wanted.blocks());
  }
}
