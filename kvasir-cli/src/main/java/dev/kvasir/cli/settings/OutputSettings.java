package dev.kvasir.cli.settings;

import dev.kvasir.Nullable;
import dev.kvasir.live.gateway.journal.JournalFiles;
import java.net.URI;
import java.nio.file.Path;

/**
 * What is written down.
 *
 * @param capture the traffic as a trace for the simulator; null for none
 * @param requests a line of JSON for each request; null for none
 * @param traces where OpenTelemetry's spans of each request are sent; null for nowhere
 * @param log how it is told what happens besides
 */
public record OutputSettings(
    @Nullable Path capture, @Nullable Path requests, @Nullable URI traces, LogFormat log) {
  public static final OutputSettings DEFAULT = new OutputSettings(null, null, null, LogFormat.TEXT);

  public JournalFiles files() {
    return new JournalFiles(requests, capture, traces);
  }
}
