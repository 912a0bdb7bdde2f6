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
  public final void resume(Step step) {
    switch (step) {
      case Step.Send legs -> send(legs);
      case Step.Local _ -> {}
      case Step.Refuse(var refusal) -> refuse(refusal);
    }
  }

  void send(Step.Send legs) {}

  abstract void refuse(Refusal refusal);
}
