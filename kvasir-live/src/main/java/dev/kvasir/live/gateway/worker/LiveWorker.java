package dev.kvasir.live.gateway.worker;

import dev.kvasir.Nullable;
import java.util.LinkedHashMap;
import java.util.Map;

/** A worker as it is configured, and what it has told; belongs to the loop of the router. */
public final class LiveWorker {
  private final Worker config;
  private Map<String, String> models = Map.of();
  private String engine = "";
  private WorkerMetrics.Report report = WorkerMetrics.Report.NONE;
  private @Nullable WorkerEvents events;

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

  void serves(Map<String, String> told) {
    models = new LinkedHashMap<>(told);
  }

  /** By which others ask for what it prefilled; empty where it has not told. */
  public String engine() {
    return engine;
  }

  void named(String told) {
    engine = told;
  }

  /** What it told of its load, however long ago. */
  WorkerMetrics.Report report() {
    return report;
  }

  void tell(WorkerMetrics.Report told) {
    report = told;
  }

  /** Its KV events; null where nobody listens to them. */
  @Nullable
  public WorkerEvents events() {
    return events;
  }

  public void hears(WorkerEvents heard) {
    events = heard;
  }
}
