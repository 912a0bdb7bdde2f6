package dev.kvasir.embedded;

import dev.kvasir.Nullable;
import dev.kvasir.embedded.step.AheadSteps;
import dev.kvasir.embedded.step.AnswerSteps;
import dev.kvasir.embedded.step.BehindSteps;
import dev.kvasir.embedded.step.EngineMemory;
import dev.kvasir.embedded.step.LaunchedModel;
import dev.kvasir.embedded.step.WatchedLoop;
import dev.kvasir.model.CpuModel;
import dev.kvasir.model.StepRow;
import dev.kvasir.model.sample.SamplingSettings;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.HostStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A processor that is used as a GPU is: steps are launched ahead, and tokens fed by the device.
 *
 * <p>A store waits for the steps that were launched before it, as a real device's does.
 */
record AheadCpuDevice(
    CpuModel model,
    CallFaults steps,
    CallFaults launches,
    CallFaults calls,
    ExecutorService device,
    ExecutorService waiter)
    implements ModelDevice {
  AheadCpuDevice(CpuModel model) {
    this(
        model,
        new CallFaults(),
        new CallFaults(),
        new CallFaults(),
        Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon(true).factory()),
        Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon(true).factory()));
  }

  /** The step after so many others fails, and those behind it do not. */
  void failAfter(int steps) {
    this.steps.failAfter(steps, CallFaults.Manner.THROWS);
  }

  @Override
  public String fingerprint() {
    return model.fingerprint();
  }

  @Override
  public int blockBytes() {
    return model.shape().kvBytesPerBlock();
  }

  @Override
  public int vocabulary() {
    return model.shape().vocabulary();
  }

  @Override
  public int contextTokens() {
    return model.shape().contextTokens();
  }

  @Override
  public Room room(Wanted wanted) {
    var memory = new HostMemory(wanted.name(), wanted.blocks(), blockBytes());
    return new AheadRoom(this, wanted, memory);
  }

  @Override
  public void close() {
    device.close();
    waiter.close();
    model.close();
  }

  private static final class AheadRoom implements Room, LaunchedModel {
    private final AheadCpuDevice owner;
    private final Wanted wanted;
    private final HostMemory memory;
    private final @Nullable HostStore store;
    private int[] sampled = {};
    private boolean unlaunched;
    private @Nullable AheadSteps steps;

    AheadRoom(AheadCpuDevice owner, Wanted wanted, HostMemory memory) {
      this.owner = owner;
      this.wanted = wanted;
      this.memory = memory;
      var tiers = wanted.tiers();
      this.store = tiers == null ? null : tiers.step(memory);
    }

    @Override
    public AnswerSteps steps(WatchedLoop loop) {
      var made =
          new AheadSteps(
              this,
              wanted.launching(),
              wanted.thread(),
              owner.waiter,
              loop,
              wanted.times(),
              wanted.lost());
      steps = made;
      return made;
    }

    @Override
    public TierStore down() {
      if (store == null) throw new IllegalStateException("no tiers");
      var counted = owner.calls.of(store);
      return new BehindSteps(counted, wanted.thread(), wanted.loop(), this::drained, this::drained);
    }

    /** A processor has no marks: what it was given so far is awaited. */
    private Runnable drained() throws IOException {
      try {
        var _ = owner.device.submit(() -> {}).get();
      } catch (ExecutionException | InterruptedException e) {
        throw new IOException(e);
      }
      return () -> {};
    }

    @Override
    public void whenSettled(Runnable then) {
      if (steps == null) then.run();
      else steps.whenLanded(then);
    }

    @Override
    public int vocabulary() {
      return owner.model.shape().vocabulary();
    }

    @Override
    public boolean chooses(SamplingSettings sampling) {
      return sampling.equals(SamplingSettings.greedy());
    }

    @Override
    public Launch launch(List<StepRow> rows, List<SamplingSettings> sampling) {
      boolean isFed = rows.stream().anyMatch(row -> row.tokens()[row.tokens().length - 1] < 0);
      if (isFed && unlaunched) owner.calls.report("a step is fed by one that was not launched");
      unlaunched = true;
      owner.launches.call();
      owner.calls.call();
      unlaunched = false;
      var logits = new ArrayList<float[]>();
      return new Started(owner.calls, owner.device.submit(() -> compute(rows, logits)), logits);
    }

    private int[] compute(List<StepRow> rows, List<float[]> logits) {
      owner.steps.call();
      owner.calls.call();
      var fed = new ArrayList<StepRow>();
      var wanted = new float[rows.size()][];
      for (int i = 0; i < rows.size(); i++) {
        var row = rows.get(i);
        var tokens = row.tokens().clone();
        for (int t = 0; t < tokens.length; t++) {
          if (tokens[t] < 0) tokens[t] = sampled[~tokens[t]];
        }
        fed.add(new StepRow(tokens, row.firstPosition(), row.blocks(), row.sampled()));
        wanted[i] = new float[row.sampled() ? vocabulary() : 0];
        if (row.sampled()) logits.add(wanted[i]);
      }
      owner.model.forward(fed, new EngineMemory(memory), wanted);
      sampled = logits.stream().mapToInt(AheadRoom::highest).toArray();
      return sampled;
    }

    private static int highest(float[] logits) {
      int best = 0;
      for (int i = 1; i < logits.length; i++) if (logits[i] > logits[best]) best = i;
      return best;
    }

    @Override
    public void close() {
      if (store != null) store.close();
      memory.close();
    }
  }

  /** A step on its way. */
  private record Started(CallFaults calls, Future<int[]> tokens, List<float[]> all)
      implements LaunchedModel.Launch {
    @Override
    public void await() throws IOException {
      calls.call();
      try {
        var _ = tokens.get();
      } catch (ExecutionException | InterruptedException e) {
        throw new IOException(e);
      }
    }

    @Override
    public int token(int sample) {
      calls.call();
      return tokens.resultNow()[sample];
    }

    @Override
    public float[] logits(int sample) {
      calls.call();
      return all.get(sample);
    }

    @Override
    public long nanos() {
      return 1;
    }

    @Override
    public long idleNanos() {
      return 1;
    }
  }
}
