package dev.kvasir.embedded.step;

import dev.kvasir.Nullable;
import dev.kvasir.net.Json;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Writes the times of steps as lines of JSON, many steps a line; belongs to the engines' loop.
 *
 * <p>Steps that only decode come by the hundred a second and are much alike: some stand for all.
 */
public final class StepLines implements Consumer<StepTime> {
  private static final int STEPS_MAX = 256;
  private static final int DECODES_PER_LINE = 8;
  private static final Duration WAIT_MAX = Duration.ofSeconds(1);

  private final EventLoop loop;
  private final Consumer<Supplier<@Nullable String>> out;
  private List<StepTime> steps = new ArrayList<>();
  private long skipped;

  public StepLines(EventLoop loop, Consumer<Supplier<@Nullable String>> out) {
    this.loop = loop;
    this.out = out;
  }

  @Override
  public void accept(StepTime step) {
    if (step.prefillTokens() == 0 && skipped++ % DECODES_PER_LINE != 0) return;
    if (steps.isEmpty()) loop.after(WAIT_MAX, this::flush);
    steps.add(step);
    if (steps.size() == STEPS_MAX) flush();
  }

  /** Writes the steps that wait for more of them. */
  public void flush() {
    if (steps.isEmpty()) return;
    var written = steps;
    steps = new ArrayList<>();
    out.accept(() -> line(written));
  }

  private static String line(List<StepTime> steps) {
    var line = Json.object().put("schema", "kvasir.steps.v1");
    var list = line.putArray("steps");
    for (var step : steps) {
      list.addArray()
          .add(step.prefillTokens())
          .add(step.prefillContext())
          .add(step.decodes())
          .add(step.decodeContext())
          .add(step.nanos() / 1_000);
    }
    return line.toString();
  }
}
