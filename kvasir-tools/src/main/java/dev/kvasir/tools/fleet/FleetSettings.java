package dev.kvasir.tools.fleet;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.net.server.HttpSettings;

/**
 * A fleet of look-alike workers.
 *
 * @param workers how many
 * @param firstPort of the first worker; the others follow; 0 for any that are free
 * @param blocks how many blocks of KV memory each of them has
 */
public record FleetSettings(
    int workers, String host, int firstPort, int blocks, EngineSettings engine) {
  private static final int WORKERS_MAX = 256;

  public FleetSettings {
    if (workers < 1 || workers > WORKERS_MAX) {
      throw new IllegalArgumentException(workers + " workers, expected 1 to " + WORKERS_MAX);
    }
    if (firstPort < 0 || firstPort + workers > 65_535) {
      throw new IllegalArgumentException(
          "%d workers from port %d on, expected ports from 0 to 65535"
              .formatted(workers, firstPort));
    }
    if (blocks < 1) throw new IllegalArgumentException(blocks + " blocks of KV memory");
  }

  public HttpSettings http(int worker) {
    var usual = HttpSettings.local(firstPort == 0 ? 0 : firstPort + worker);
    return usual.at(host, usual.port());
  }
}
