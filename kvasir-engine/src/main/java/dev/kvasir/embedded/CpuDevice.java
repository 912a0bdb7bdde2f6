package dev.kvasir.embedded;

import dev.kvasir.Nullable;
import dev.kvasir.embedded.step.AnswerSteps;
import dev.kvasir.embedded.step.CpuSteps;
import dev.kvasir.embedded.step.EngineMemory;
import dev.kvasir.embedded.step.SampledSteps;
import dev.kvasir.embedded.step.WatchedLoop;
import dev.kvasir.model.CpuModel;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.HostStore;

/** A model on the processors of this machine. */
public record CpuDevice(CpuModel model) implements ModelDevice {
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
    return new HostRoom(model, wanted);
  }

  @Override
  public void close() {
    model.close();
  }

  private static final class HostRoom implements Room {
    private final CpuModel model;
    private final Wanted wanted;
    private final HostMemory memory;
    private final @Nullable HostStore store;

    HostRoom(CpuModel model, Wanted wanted) {
      this.model = model;
      this.wanted = wanted;
      int bytes = model.shape().kvBytesPerBlock();
      this.memory = new HostMemory(wanted.name(), wanted.blocks(), bytes);
      var tiers = wanted.tiers();
      this.store = tiers == null ? null : tiers.step(memory);
    }

    @Override
    public AnswerSteps steps(WatchedLoop loop) {
      var steps =
          new CpuSteps(
              wanted.loop(), wanted.thread(), model, new EngineMemory(memory), wanted.times());
      return new SampledSteps(steps, loop);
    }

    @Override
    public TierStore down() {
      if (store == null) throw new IllegalStateException(wanted.name() + " has no tiers below");
      return store;
    }

    @Override
    public void close() {
      if (store != null) store.close();
      memory.close();
    }
  }
}
