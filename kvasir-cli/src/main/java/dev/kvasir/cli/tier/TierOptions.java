package dev.kvasir.cli.tier;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.Said;
import dev.kvasir.live.doctor.Bytes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What the daemon keeps, and for whom; each option is a key of the file. */
@Command(optionListHeading = "%nOptions:%n")
final class TierOptions {
  @Option(
      names = "--socket",
      paramLabel = "FILE",
      description = "Where engines connect (default: tier.sock in ~/.cache/kvasir).")
  private @Nullable String socket;

  @Option(
      names = "--host-bytes",
      paramLabel = "SIZE",
      description = "Host memory of all namespaces together, as in 64GiB (default: 1GiB).")
  private @Nullable String hostBytes;

  @Option(
      names = "--disk-bytes",
      paramLabel = "SIZE",
      description = "Disk of all namespaces together; 0 for none (default: 0).")
  private @Nullable String diskBytes;

  @Option(
      names = "--folder",
      paramLabel = "DIR",
      description = "Where what is on disk lies (default: tier in ~/.cache/kvasir).")
  private @Nullable String folder;

  @Option(
      names = "--redis",
      paramLabel = "HOST:PORT",
      description = "A Redis or Valkey below the disk (default: none).")
  private @Nullable String redis;

  @Option(
      names = "--namespaces-max",
      paramLabel = "N",
      description = "Models kept at a time; each has an equal share of the bytes (default: 1).")
  private @Nullable String namespacesMax;

  @Option(
      names = "--eviction",
      paramLabel = "NAME",
      description =
          "Which chunk goes first: lineage, lru, fifo, multi-lru, s3-fifo (default: lineage).")
  private @Nullable String eviction;

  @Option(
      names = "--ttl",
      paramLabel = "TIME",
      description = "How long a chunk stays that nobody loads, as in 1h (default: no limit).")
  private @Nullable String ttl;

  @Option(
      names = "--load",
      paramLabel = "WHICH",
      description =
          "Offer chunks that are loaded in less time than they are computed, or all: quicker,"
              + " always (default: quicker).")
  private @Nullable String load;

  @Option(
      names = "--user",
      paramLabel = "NAME,...",
      description = "Users that may connect besides the one of the daemon (default: none).")
  private @Nullable String users;

  @Option(
      names = "--admin-port",
      paramLabel = "PORT",
      description = "Port of /metrics on this machine; 0 for any that is free (default: 8002).")
  private @Nullable String adminPort;

  /** What was said, as one would have written it in a file. */
  Said said() {
    return Said.NOTHING
        .with("--socket", "socket", socket)
        .with("--host-bytes", "host-bytes", bytes("--host-bytes", hostBytes))
        .with("--disk-bytes", "disk-bytes", bytes("--disk-bytes", diskBytes))
        .with("--folder", "folder", folder)
        .with("--redis", "remote.server.nodes", redis)
        .with("--namespaces-max", "namespaces-max", namespacesMax)
        .with("--eviction", "eviction", eviction)
        .with("--ttl", "ttl", ttl)
        .with("--load", "load", load)
        .with("--user", "users", users)
        .with("--admin-port", "admin-port", adminPort);
  }

  /** A whole number of bytes, as a file would have it; null for nothing. */
  private static @Nullable String bytes(String option, @Nullable String text) {
    if (text == null) return null;
    try {
      return Long.toString(Bytes.parse(text));
    } catch (ArithmeticException | NumberFormatException e) {
      throw new IllegalArgumentException(
          option + " '" + text + "', expected bytes with or without a unit, as in 64GiB", e);
    }
  }
}
