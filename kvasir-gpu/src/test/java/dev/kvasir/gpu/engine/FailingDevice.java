package dev.kvasir.gpu.engine;

import dev.kvasir.Nullable;
import dev.kvasir.embedded.ModelDevice;
import dev.kvasir.embedded.step.AheadSteps;
import dev.kvasir.embedded.step.AnswerSteps;
import dev.kvasir.embedded.step.LaunchedModel;
import dev.kvasir.embedded.step.WatchedLoop;
import dev.kvasir.model.StepRow;
import dev.kvasir.model.sample.SamplingSettings;
import dev.kvasir.offload.store.TierStore;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/** A GPU one of whose steps fails, while its context is well. */
record FailingDevice(GpuDevice device, Place place, AtomicInteger left) implements ModelDevice {
  /** The place in which the step fails. */
  enum Place {
    /** It is not launched, as where memory for its graph is missing: nothing is computed. */
    LAUNCH,
    /** It is launched and computes, and nobody can read what came of it. */
    READ
  }

  FailingDevice(GpuDevice device, Place place) {
    this(device, place, new AtomicInteger(Integer.MAX_VALUE));
  }

  /** The step after so many others fails, and those behind it do not. */
  void failAfter(int steps) {
    left.set(steps);
  }

  @Override
  public String fingerprint() {
    return device.fingerprint();
  }

  @Override
  public int blockBytes() {
    return device.blockBytes();
  }

  @Override
  public int contextTokens() {
    return device.contextTokens();
  }

  @Override
  public int vocabulary() {
    return device.vocabulary();
  }

  @Override
  public Room room(Wanted wanted) throws IOException {
    return new FailingRoom(this, (GpuRoom) device.room(wanted), wanted);
  }

  @Override
  public void close() {
    device.close();
  }

  private static final class FailingRoom implements Room, LaunchedModel {
    private final FailingDevice owner;
    private final GpuRoom room;
    private final Wanted wanted;
    private @Nullable AheadSteps steps;

    FailingRoom(FailingDevice owner, GpuRoom room, Wanted wanted) {
      this.owner = owner;
      this.room = room;
      this.wanted = wanted;
    }

    @Override
    public AnswerSteps steps(WatchedLoop loop) {
      var made =
          new AheadSteps(
              this,
              wanted.launching(),
              wanted.thread(),
              owner.device.waiter(),
              loop,
              wanted.times(),
              wanted.lost());
      steps = made;
      return made;
    }

    @Override
    public TierStore down() {
      return room.down();
    }

    @Override
    public void whenSettled(Runnable then) {
      Objects.requireNonNull(steps).whenLanded(then);
    }

    @Override
    public int vocabulary() {
      return room.vocabulary();
    }

    @Override
    public boolean chooses(SamplingSettings sampling) {
      return room.chooses(sampling);
    }

    @Override
    public Launch launch(List<StepRow> rows, List<SamplingSettings> sampling) throws IOException {
      boolean fails = owner.left.getAndDecrement() == 0;
      if (fails && owner.place == Place.LAUNCH) throw new IOException("it is not to be launched");
      var launch = room.launch(rows, sampling);
      return fails ? new Unread(launch) : launch;
    }

    @Override
    public void close() {
      room.close();
    }
  }

  /** A step that is over, and of which nothing can be read. */
  private record Unread(LaunchedModel.Launch launch) implements LaunchedModel.Launch {
    @Override
    public void await() throws IOException {
      launch.await();
      throw new IOException("it is not to be read");
    }

    @Override
    public int token(int sample) {
      return launch.token(sample);
    }

    @Override
    public float[] logits(int sample) throws IOException {
      return launch.logits(sample);
    }

    @Override
    public long nanos() {
      return launch.nanos();
    }

    @Override
    public long idleNanos() {
      return launch.idleNanos();
    }
  }
}
