package dev.kvasir.router.flow;

import dev.kvasir.router.limit.Refusal;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.worker.WorkerEntry;
import dev.kvasir.router.worker.WorkerTable;

/** A caller that does nothing by itself but hear that it is refused. */
public abstract class IdleDriver implements RequestDriver {
  /** Hears of workers, and does nothing. */
  public static final class Unwatched implements WorkerTable.Listener<String> {
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

  protected void send(Step.Send legs) {}

  protected abstract void refuse(Refusal refusal);
}
