package dev.kvasir.offload.pipeline;

import java.util.ArrayList;
import java.util.List;

/** Containers of several callers that are moved together, each cancellable by itself. */
final class OffloadBatch implements CancellableQueue.Entry {
  private final List<OffloadContainer> containers;
  private final long sequence;

  OffloadBatch(List<OffloadContainer> containers, long sequence) {
    this.containers = new ArrayList<>(containers);
    this.sequence = sequence;
  }

  List<OffloadContainer> containers() {
    return containers;
  }

  /** Batches were made in order of priority already. */
  @Override
  public int priority() {
    return 0;
  }

  @Override
  public long sequence() {
    return sequence;
  }

  @Override
  public int size() {
    int blocks = 0;
    for (var container : containers) blocks += container.size();
    return blocks;
  }

  @Override
  public void sweep(Sweep sweep) {
    for (var container : List.copyOf(containers)) container.sweep(sweep);
    containers.removeIf(container -> container.size() == 0);
  }
}
