package dev.kvasir.gateway;

import dev.kvasir.Nullable;
import dev.kvasir.Records;
import dev.kvasir.gateway.journal.JournalFiles;
import dev.kvasir.gateway.journal.NameKey;
import dev.kvasir.gateway.worker.FailureRules;
import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.router.flow.QueueLimits;
import dev.kvasir.router.limit.AdmissionPolicy;
import java.time.Duration;
import java.util.List;

/**
 * Settings of a gateway.
 *
 * @param api address that callers use
 * @param admin address at which metrics are read and workers are drained; for this machine alone
 * @param metrics address at which metrics alone are read, perhaps from other machines; null for
 *     none
 * @param admission rule for which requests are taken at all; null for all
 * @param probePace interval at which workers are asked how they are
 * @param workerKey key that workers are sent; empty for none
 * @param secret secret from which the salts of tenants are made
 */
public record GatewaySettings(
    HttpSettings api,
    HttpSettings admin,
    @Nullable HttpSettings metrics,
    List<Worker> workers,
    Routing routing,
    QueueLimits queue,
    @Nullable AdmissionPolicy admission,
    FailureRules failures,
    Duration probePace,
    JournalFiles files,
    String workerKey,
    NameKey secret) {
  public GatewaySettings {
    workers = List.copyOf(workers);
    if (workers.stream().map(Worker::name).distinct().count() < workers.size()) {
      throw new IllegalArgumentException("two workers have one name: " + workers);
    }
    if (!probePace.isPositive()) throw new IllegalArgumentException("probes every " + probePace);
  }

  /** A gateway on this machine, with the defaults of everything. */
  public static GatewaySettings of(int port, List<Worker> workers) {
    return new GatewaySettings(
        HttpSettings.local(port),
        HttpSettings.local(0),
        null,
        workers,
        Routing.DEFAULT,
        QueueLimits.DEFAULT,
        null,
        FailureRules.DEFAULT,
        Duration.ofSeconds(1),
        JournalFiles.NONE,
        "",
        NameKey.random());
  }

  /** These, but for the two addresses. */
  public GatewaySettings at(HttpSettings callers, HttpSettings keepers) {
    return Records.with(this, "api", callers, "admin", keepers);
  }

  /** These, with a server for metrics alone; null for none. */
  public GatewaySettings measuredAt(@Nullable HttpSettings other) {
    return Records.with(this, "metrics", other);
  }

  public GatewaySettings with(Routing other) {
    return Records.with(this, "routing", other);
  }

  public GatewaySettings with(QueueLimits other) {
    return Records.with(this, "queue", other);
  }

  /** These, with what decides which requests are taken at all; null for all. */
  public GatewaySettings admitting(@Nullable AdmissionPolicy other) {
    return Records.with(this, "admission", other);
  }

  public GatewaySettings with(FailureRules other) {
    return Records.with(this, "failures", other);
  }

  public GatewaySettings with(JournalFiles other) {
    return Records.with(this, "files", other);
  }

  public GatewaySettings probing(Duration pace) {
    return Records.with(this, "probePace", pace);
  }

  /** These, but for what workers and tenants are given. */
  public GatewaySettings with(String key, NameKey other) {
    return Records.with(this, "workerKey", key, "secret", other);
  }
}
