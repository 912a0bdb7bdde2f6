package dev.kvasir.gateway.journal;

import dev.kvasir.Nullable;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;

/**
 * Destinations to which requests are written down.
 *
 * @param log a line of JSON for each request; null for none
 * @param capture the traffic, as the simulator reads it; null for none
 * @param traces the collector to which OpenTelemetry's spans are sent; null for none
 */
public record JournalFiles(@Nullable Path log, @Nullable Path capture, @Nullable URI traces) {
  public static final JournalFiles NONE = new JournalFiles(null, null, null);

  public JournalFiles {
    if (traces != null && !List.of("http", "https").contains(String.valueOf(traces.getScheme()))) {
      throw new IllegalArgumentException(
          "traces to " + traces + ", expected a URL as in http://127.0.0.1:4318/v1/traces");
    }
  }
}
