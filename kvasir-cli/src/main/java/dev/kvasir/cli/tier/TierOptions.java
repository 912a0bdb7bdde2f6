package dev.kvasir.cli.tier;

import dev.kvasir.cli.config.GivenOptions;
import dev.kvasir.cli.config.KeyOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Options for what the daemon keeps, and for whom; each option is a key of the file. */
@Command(optionListHeading = "%nOptions:%n")
final class TierOptions {
  private final KeyOptions options =
      new KeyOptions(
          """
          --socket FILE socket
            Where engines connect (default: tier.sock in ~/.cache/kvasir).
          --host-bytes SIZE host-bytes
            Host memory of all namespaces together, as in 64GiB (default: 1GiB).
          --disk-bytes SIZE disk-bytes
            Disk of all namespaces together; 0 for none (default: 0).
          --folder DIR folder
            Folder of the disk tier (default: tier in ~/.cache/kvasir).
          --redis HOST:PORT remote.server.nodes
            A Redis or Valkey below the disk (default: none).
          --namespaces-max N namespaces-max
            Models kept at a time; each has an equal share of the bytes (default: 1).
          --eviction NAME eviction
            Eviction policy: learned, lineage, lru, fifo, multi-lru, s3-fifo (default: lineage).
          --ttl TIME ttl
            Drop a chunk that nobody loads for this long, as in 1h (default: no limit).
          --load WHICH load
            Chunks to offer: quicker for those that load faster than they compute, always for all
            (default: quicker).
          --user NAME,... users
            Users that may connect besides the one of the daemon (default: none).
          --admin-port PORT admin-port
            Port of /metrics on this machine; 0 for any that is free (default: 8002).
          """);

  @Spec
  void addTo(CommandSpec command) {
    options.addTo(command);
  }

  /** Returns the given options as one would have written them in a file. */
  GivenOptions given() {
    return options.given();
  }
}
