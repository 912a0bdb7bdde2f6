package dev.kvasir.offload.pipeline;

import dev.kvasir.Nullable;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.util.ArrayList;

/**
 * Third stage: groups containers by block count, and flushes what has waited long enough.
 *
 * <p>Takes the containers of its queue in order of priority, as late as it can: while a batch
 * already waits for the executor, those that come later may still overtake.
 */
final class Batcher {
  private final EventLoop loop;
  private final PipelineSettings.Batching settings;
  private final CancellableQueue<OffloadContainer> in;
  private final CancellableQueue<OffloadBatch> out;
  private final Runnable made;
  private @Nullable Timer flush;
  private boolean due;
  private long sequence;

  Batcher(
      EventLoop loop,
      PipelineSettings.Batching settings,
      CancellableQueue<OffloadContainer> in,
      CancellableQueue<OffloadBatch> out,
      Runnable made) {
    this.loop = loop;
    this.settings = settings;
    this.in = in;
    this.out = out;
    this.made = made;
  }

  /** Makes a batch if one is due and none waits; called whenever a queue has changed. */
  void run() {
    if (in.isEmpty()) {
      disarm();
    } else if (out.isEmpty() && (due || in.blocks() >= settings.blocksMin())) {
      out.add(batch());
      disarm();
      if (!in.isEmpty()) arm();
      made.run();
    } else if (!due) {
      arm();
    }
  }

  private OffloadBatch batch() {
    var containers = new ArrayList<OffloadContainer>();
    int blocks = 0;
    while (!in.isEmpty() && blocks + in.first().size() <= settings.blocksMax()) {
      var container = in.remove();
      blocks += container.size();
      containers.add(container);
    }
    return new OffloadBatch(containers, sequence++);
  }

  private void arm() {
    if (flush == null) flush = loop.after(settings.flushInterval(), this::flush);
  }

  private void disarm() {
    if (flush != null) flush.cancel();
    flush = null;
    due = false;
  }

  private void flush() {
    flush = null;
    due = true;
    run();
  }
}
