package dev.kvasir.net.worker;

import dev.kvasir.net.server.Reply;
import java.util.Map;
import java.util.function.Consumer;

/** A worker in this process, which is called and not connected to; from any thread. */
public interface LocalWorker {
  /**
   * State of a worker.
   *
   * @param isHealthy whether it can answer
   * @param report its load and its cache
   * @param models models that it serves, each with what it tells of it
   */
  record State(boolean isHealthy, WorkerReport report, Map<String, String> models) {
    public State {
      models = Map.copyOf(models);
    }
  }

  /** By which the gateway knows it. */
  String name();

  /** Answers a request; false where it is stopped, and nothing is answered. */
  boolean accept(WorkerMessage message, Reply reply);

  /** Tells how it is, on a thread of its own. */
  void observe(Consumer<State> observer);
}
