package dev.kvasir.router.flow;

import dev.kvasir.router.view.Availability;

/** A caller that does nothing by itself but hear that it is refused. */
abstract class IdleDriver implements RequestDriver {
  /** Hears of workers, and does nothing. */
  static final class Unwatched implements WorkerTable.Listener<String> {
    @Override
    public void changed(WorkerEntry<String> entry, Availability before) {}

    @Override
    public void withheld(WorkerEntry<String> entry, int ready) {}
  }

  @Override
  public void accept() {}

  @Override
  public void send(Leg leg) {}

  @Override
  public void cancel() {}

  @Override
  public void closed() {}
}
