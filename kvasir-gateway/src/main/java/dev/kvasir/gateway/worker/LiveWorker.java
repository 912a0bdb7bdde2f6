package dev.kvasir.gateway.worker;

import dev.kvasir.Nullable;
import dev.kvasir.events.WorkerEvents;
import dev.kvasir.net.worker.WorkerReport;
import java.util.LinkedHashMap;
import java.util.Map;

/** A worker as it is configured, and what it has told; belongs to the loop of the router. */
public final class LiveWorker {
  private final Worker config;
  private Map<String, String> models = Map.of();
  private String engine = "";
  private WorkerReport report = WorkerReport.NONE;
  private @Nullable WorkerEvents events;
  private String problem = "";
  private int failures;
  private boolean missed;

  LiveWorker(Worker config) {
    this.config = config;
  }

  public Worker config() {
    return config;
  }

  public String name() {
    return config.name();
  }

  /** The models it serves, and what it tells of each; empty where it has not told. */
  public Map<String, String> models() {
    return models;
  }

  void serves(Map<String, String> reported) {
    models = new LinkedHashMap<>(reported);
  }

  /** By which others ask for what it prefilled; empty where it has not told. */
  public String engine() {
    return engine;
  }

  void named(String reported) {
    engine = reported;
  }

  /** Returns the latest report of the worker, however old. */
  WorkerReport report() {
    return report;
  }

  void update(WorkerReport reported) {
    report = reported;
  }

  /** Returns why the worker's last probe failed; empty if it did not. */
  public String problem() {
    return problem;
  }

  /** Its probe failed; answers how many have in a row. */
  int fails(String why) {
    problem = why;
    return ++failures;
  }

  /** Returns whether it was reported that the worker is down. */
  boolean isMissed() {
    return missed;
  }

  void misses() {
    missed = true;
  }

  void answers() {
    problem = "";
    failures = 0;
    missed = false;
  }

  /** Its KV events; null where nobody listens to them. */
  @Nullable
  public WorkerEvents events() {
    return events;
  }

  public void setEvents(WorkerEvents workerEvents) {
    events = workerEvents;
  }
}
