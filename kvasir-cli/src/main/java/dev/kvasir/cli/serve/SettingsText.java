package dev.kvasir.cli.serve;

import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.cli.settings.LogFormat;
import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.gateway.worker.Connector;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.router.limit.KeyLimits;
import dev.kvasir.spec.Durations;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Settings in words: what would run with them. Secrets are never among the words. */
final class SettingsText {
  private final Deployment settings;
  private final Path folder;
  private final Lines lines = new Lines();

  SettingsText(Deployment settings, Path folder) {
    this.settings = settings;
    this.folder = folder;
  }

  List<String> lines() throws IOException {
    listen();
    keys();
    if (settings.isEmbedded()) engines();
    else workers();
    routing();
    limits();
    return lines.all();
  }

  private void listen() {
    var listen = settings.listen();
    var scheme = listen.tlsCertificate() == null ? "http" : "https";
    lines.add("Listens at %s://%s:%d.", scheme, listen.host(), listen.port());
    lines.add("Metrics and draining are at http://127.0.0.1:%d.", listen.adminPort());
    var metrics = listen.metricsServer();
    if (metrics != null) {
      lines.add("Metrics are also at %s://%s:%d.", scheme, metrics.host(), metrics.port());
    }
    if (listen.isOpenToAnybody()) {
      lines.add("  Anyone who reaches this machine may use it: consider listen.api-keys.");
    }
  }

  private void keys() throws IOException {
    var listen = settings.listen();
    if (listen.apiKeys() == null) {
      lines.add("No API keys: anyone who reaches the endpoint may use it.");
      return;
    }
    var keys = listen.keys().all();
    lines.add("%d keys, from %s:", keys.size(), listen.apiKeys());
    for (var key : keys) lines.add("  %s%s", key.tenant(), rights(key));
    var given = settings.routing().tenantSecret() != null;
    lines.add(
        "  Their salts are derived from %s, so blocks are found again after a restart.",
        given ? "the secret that is given" : TenantSecret.file(folder));
  }

  private static String rights(ApiKey key) {
    var text = new StringBuilder(key.scope() == ApiKey.Scope.ADMIN ? ", may administer" : "");
    var limits = key.limits();
    if (limits.requestsPerMinute() < KeyLimits.UNLIMITED.requestsPerMinute()) {
      text.append(", ").append(limits.requestsPerMinute()).append(" requests a minute");
    }
    if (limits.tokensPerMinute() < KeyLimits.UNLIMITED.tokensPerMinute()) {
      text.append(", ").append(limits.tokensPerMinute()).append(" tokens a minute");
    }
    if (limits.concurrentMax() < KeyLimits.UNLIMITED.concurrentMax()) {
      text.append(", ").append(limits.concurrentMax()).append(" at a time");
    }
    return text.toString();
  }

  private void workers() {
    lines.add("%d workers:", settings.workers().size());
    for (var each : settings.workers()) {
      var worker = each.worker();
      var does =
          switch (worker.role()) {
            case BOTH -> "prefills and decodes";
            case PREFILL -> "prefills for others";
            case DECODE -> "decodes";
          };
      lines.add("  %s at %s %s", worker.name(), worker.url(), does + more(each));
    }
    lines.add("No embedded engines, so tiers and engines are not used.");
  }

  private static String more(WorkerSettings worker) {
    var by = worker.connector();
    var text = by == Connector.NONE ? "" : ", hands over by " + by.name().toLowerCase(Locale.ROOT);
    return text
        + (worker.events().isEmpty() ? "" : ", publishes its KV events at " + worker.events());
  }

  private void engines() {
    var engines = settings.engines();
    var model = engines.model() == null ? "the built-in model" : engines.model().toString();
    lines.add("%d embedded engines share %s.", engines.count(), model);
    lines.add(
        "  Requests are admitted by '%s', blocks are evicted by '%s'.",
        engines.scheduler().name().toLowerCase(Locale.ROOT).replace('_', '-'), engines.eviction());
    lines.add("Tiers, from the fastest down:");
    new TieredCacheText(settings, folder, lines).addLines();
  }

  private void routing() {
    var routing = settings.routing();
    lines.add("Routing policy '%s', placement policy '%s'.", routing.policy(), routing.placement());
    if (routing.policy().equals("weighted")) lines.add("  It adds up %s.", routing.scorers());
    if (settings.isEmbedded() && routing.heavyTokensMin() == 0) {
      lines.add("  A prompt may be prefilled elsewhere from a quarter of the model's context on,");
      lines.add("  2048 uncached tokens at most.");
    } else {
      lines.add(
          "  A prompt may be prefilled elsewhere from %d uncached tokens on.",
          routing.classes(0).heavyTokensMin());
    }
    lines.add(
        "  Prompts are hashed by their %s.", settings.naming().name().toLowerCase(Locale.ROOT));
    lines.add("  Workers are probed every %s.", Durations.text(routing.probePace()));
  }

  private void limits() {
    var queue = settings.limits().queue();
    lines.add(
        "At most %d requests are at the workers; %d more wait, %s at most.",
        queue.inFlightMax(), queue.waitingMax(), Durations.text(queue.patience()));
    var admission = settings.limits().admission();
    if (admission.policyIfAny() != null) {
      lines.add("The admission policy '%s' may reject requests.", admission.policy());
    }
    if (settings.engines().isByPriority()) {
      lines.add("Workers are sent the SLO class of a request as its priority.");
    }
    var failures = settings.limits().failures();
    lines.add(
        "A request is tried with %d workers; %d failures in a row take a worker out for %s.",
        failures.attemptsMax(), failures.failuresMax(), Durations.text(failures.restTime()));
    var files = settings.files();
    if (files.capture() != null) lines.add("The traffic is captured in %s.", files.capture());
    if (files.requests() != null) lines.add("Each request is logged in %s.", files.requests());
    if (files.log() == LogFormat.JSON) lines.add("The log is written as JSON lines.");
    if (files.traces() != null) lines.add("A trace of each request is sent to %s.", files.traces());
  }
}
