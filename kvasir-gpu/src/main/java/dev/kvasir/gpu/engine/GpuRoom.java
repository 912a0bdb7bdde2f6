package dev.kvasir.gpu.engine;

import dev.kvasir.Nullable;
import dev.kvasir.gpu.CudaEvent;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.model.GpuFeed;
import dev.kvasir.gpu.model.GpuRow;
import dev.kvasir.gpu.model.GpuStep;
import dev.kvasir.gpu.tier.DeviceLayout;
import dev.kvasir.gpu.tier.DeviceMemory;
import dev.kvasir.gpu.tier.DeviceTier;
import dev.kvasir.live.engine.ModelDevice.Room;
import dev.kvasir.live.engine.ModelDevice.Wanted;
import dev.kvasir.live.engine.step.AheadSteps;
import dev.kvasir.live.engine.step.AnswerSteps;
import dev.kvasir.live.engine.step.BehindSteps;
import dev.kvasir.live.engine.step.LaunchedModel;
import dev.kvasir.live.engine.step.WatchedLoop;
import dev.kvasir.model.StepRow;
import dev.kvasir.model.sample.SamplingSettings;
import dev.kvasir.offload.store.TierStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The blocks of one engine on the GPU, and what computes in them. */
final class GpuRoom implements Room, LaunchedModel {
  private static final int COPIES_MAX = 16_384;

  private final GpuDevice owner;
  private final Wanted wanted;
  private final int firstSlot;
  private final GpuFeed feed;
  private final @Nullable DeviceTier tier;
  private @Nullable AheadSteps steps;

  GpuRoom(GpuDevice owner, Wanted wanted, long address, int firstSlot) throws IOException {
    this.owner = owner;
    this.wanted = wanted;
    this.firstSlot = firstSlot;
    this.feed = owner.model().feed();
    var tiers = wanted.tiers();
    if (tiers == null) {
      this.tier = null;
      return;
    }
    var layout = DeviceLayout.contiguous(wanted.blocks(), owner.shape().blockBytes());
    var memory = DeviceMemory.over(owner.device(), layout, List.of(address));
    this.tier = DeviceTier.over(wanted.loop(), memory, tiers.memory(), COPIES_MAX);
  }

  @Override
  public AnswerSteps steps(WatchedLoop loop) {
    var made =
        new AheadSteps(
            this, wanted.launching(), wanted.thread(), owner.waiter(), loop, wanted.times());
    steps = made;
    return made;
  }

  @Override
  public TierStore down() {
    var below = tier;
    if (below == null) throw new IllegalStateException(wanted.name() + " has no tiers below");
    var store = below.store();
    return new BehindSteps(
        store,
        wanted.thread(),
        wanted.loop(),
        () -> mark(store::storeAfter),
        () -> mark(store::loadAfter));
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
    owner.device().bind();
    var all = new ArrayList<GpuRow>(rows.size());
    for (int i = 0; i < rows.size(); i++) all.add(row(rows.get(i), sampling.get(i)));
    return new Launched(owner, owner.model().launch(all, feed));
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
      owner.device().bind();
      step.await();
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
    public long nanos() throws IOException {
      return (long) (1e6 * step.millis());
    }
  }

  @Override
  public void close() {
    if (tier != null) tier.close();
    owner.takeBack(firstSlot, wanted.blocks());
  }
}
