package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.live.gateway.GatewaySettings;
import java.nio.file.Path;

/**
 * What is written down.
 *
 * @param capture the traffic as a trace for the simulator; null for none
 * @param requests a line of JSON for each request; null for none
 */
public record OutputSettings(@Nullable Path capture, @Nullable Path requests) {
  public static final OutputSettings DEFAULT = new OutputSettings(null, null);

  GatewaySettings.Files files() {
    return new GatewaySettings.Files(requests, capture);
  }
}
