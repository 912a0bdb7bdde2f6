package dev.kvasir.cli.serve;

import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.cli.settings.LogFormat;
import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.live.gateway.worker.Connector;
import dev.kvasir.live.http.ApiKey;
import dev.kvasir.router.flow.KeyLimits;
import dev.kvasir.sim.spec.Durations;
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
    lines.say("Requests come in at %s://%s:%d.", scheme, listen.host(), listen.port());
    lines.say("Metrics and draining are at http://127.0.0.1:%d.", listen.adminPort());
    if (listen.isOpenToAnybody()) {
      lines.say("  Anybody who can reach this machine may ask: consider listen.api-keys.");
    }
  }

  private void keys() throws IOException {
    var listen = settings.listen();
    if (listen.apiKeys() == null) {
      lines.say("No keys: whoever reaches the endpoint may ask.");
      return;
    }
    var keys = listen.keys().all();
    lines.say("%d keys, from %s:", keys.size(), listen.apiKeys());
    for (var key : keys) lines.say("  %s%s", key.tenant(), rights(key));
    var given = settings.routing().tenantSecret() != null;
    lines.say(
        "  Their salts are made from %s, so they find after a restart what they computed before.",
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
    lines.say("%d workers:", settings.workers().size());
    for (var each : settings.workers()) {
      var worker = each.worker();
      var does =
          switch (worker.role()) {
            case BOTH -> "prefills and decodes";
            case PREFILL -> "prefills for others";
            case DECODE -> "decodes";
          };
      lines.say("  %s at %s %s", worker.name(), worker.url(), does + more(each));
    }
    lines.say("No embedded engines, so tiers and engines are not used.");
  }

  private static String more(WorkerSettings worker) {
    var by = worker.connector();
    var text = by == Connector.NONE ? "" : ", hands over by " + by.name().toLowerCase(Locale.ROOT);
    return text + (worker.events().isEmpty() ? "" : ", tells its KV events at " + worker.events());
  }

  private void engines() {
    var engines = settings.engines();
    var model = engines.model() == null ? "the built-in model" : engines.model().toString();
    lines.say("%d embedded engines share %s.", engines.count(), model);
    lines.say("The ladder of tiers, from the top:");
    new LadderText(settings, folder, lines).say();
  }

  private void routing() {
    var routing = settings.routing();
    lines.say(
        "Who answers is chosen by '%s', who prefills by '%s'.",
        routing.policy(), routing.placement());
    if (settings.isEmbedded() && routing.heavyTokensMin() == 0) {
      lines.say("  A prompt may be prefilled elsewhere from a quarter of the model's context on,");
      lines.say("  2048 uncached tokens at most.");
    } else {
      lines.say(
          "  A prompt may be prefilled elsewhere from %d uncached tokens on.",
          routing.classes(0).heavyTokensMin());
    }
    lines.say(
        "  Prompts are told apart by their %s.", settings.naming().name().toLowerCase(Locale.ROOT));
    lines.say("  Workers are asked how they are every %s.", Durations.text(routing.probePace()));
  }

  private void limits() {
    var queue = settings.limits().queue();
    lines.say(
        "At most %d requests are with the workers, %d wait for %s at most.",
        queue.inFlightMax(), queue.waitingMax(), Durations.text(queue.patience()));
    var failures = settings.limits().failures();
    lines.say(
        "A request is tried with %d workers; %d failures in a row take a worker out for %s.",
        failures.attemptsMax(), failures.failuresMax(), Durations.text(failures.restTime()));
    var files = settings.files();
    if (files.capture() != null) lines.say("The traffic is captured in %s.", files.capture());
    if (files.requests() != null) lines.say("Each request is logged in %s.", files.requests());
    if (files.log() == LogFormat.JSON) lines.say("What happens is told in lines of JSON.");
    if (files.traces() != null) lines.say("A trace of each request is sent to %s.", files.traces());
  }
}
