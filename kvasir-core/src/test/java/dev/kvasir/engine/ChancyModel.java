package dev.kvasir.engine;

import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/** A model that takes its time, stops when it likes, and fails now and then. */
final class ChancyModel implements ModelBackend {
  private final EventLoop loop;
  private final RandomGenerator random;
  private boolean calm;

  /** Descriptions of what each step computed. */
  final List<String> steps = new ArrayList<>();

  ChancyModel(EventLoop loop, RandomGenerator random) {
    this.loop = loop;
    this.random = random;
  }

  /** From now on nothing unexpected happens. */
  void calmDown() {
    calm = true;
  }

  @Override
  public void forward(Batch batch, Consumer<ModelBackend.StepResult> done) {
    var result = calm ? ModelBackend.StepResult.UNSEEN : result(batch);
    steps.add(picture(batch));
    loop.after(Duration.ofNanos(1_000 + random.nextInt(3_000)), () -> done.accept(result));
  }

  private ModelBackend.StepResult result(Batch batch) {
    if (random.nextInt(150) == 0) return new ModelBackend.StepResult.Failed("the device was lost");
    var sampled = new ArrayList<ModelBackend.StepResult.Sampled>();
    var stopped = new ArrayList<Sequence>();
    var failed = new ArrayList<ModelBackend.StepResult.Failure>();
    for (var row : batch.rows()) {
      int chance = random.nextInt(120);
      if (chance == 0)
        failed.add(new ModelBackend.StepResult.Failure(row.sequence(), "not a number"));
      else sampled.add(new ModelBackend.StepResult.Sampled(row.sequence(), row.position()));
      if (chance == 1 || chance == 2) stopped.add(row.sequence());
    }
    for (var part : batch.parts()) {
      if (random.nextInt(60) > 0) continue;
      failed.add(new ModelBackend.StepResult.Failure(part.sequence(), "out of memory"));
    }
    return new ModelBackend.StepResult.Landed(sampled, stopped, failed);
  }

  private static String picture(Batch batch) {
    var text = new StringBuilder();
    for (var part : batch.parts()) {
      text.append(part.sequence().request().id())
          .append('+')
          .append(part.tokens())
          .append('@')
          .append(part.start())
          .append(' ');
    }
    for (var row : batch.rows()) {
      text.append(row.sequence().request().id()).append('@').append(row.position()).append(' ');
    }
    for (var sequence : batch.preempted()) text.append('-').append(sequence.request().id());
    return text.toString();
  }
}
