package dev.kvasir.tiers.shared;

import static dev.kvasir.tiers.shared.SharedShelf.keys;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kvasir.offload.store.CopyOutcome.Copied;
import dev.kvasir.tiers.host.Quiet;
import dev.kvasir.tiers.host.TestBlocks;
import dev.kvasir.tiers.redis.RedisBlocks;
import dev.kvasir.tiers.redis.RemoteSettings;
import dev.kvasir.tiers.s3.ObjectBlocks;
import dev.kvasir.tiers.s3.ObjectSettings;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A process that stores the same blocks as another one at the same time, from the other end. */
public final class RaceChild {
  public static final int BLOCK_BYTES = 16 << 10;

  private static final int SLOTS = 64;
  private static final int ROUNDS_MAX = 1000;
  private static final char READY = '!';

  private RaceChild() {}

  /** Counts of what a child has done. */
  public record Account(long stored, long present, long failed) {}

  /** Runs two of them to their ends, heat by heat: each begins at one signal for both. */
  public static List<Account> race(String kind, String where, int blocks)
      throws IOException, InterruptedException {
    var children = List.of(start(kind, where, blocks, "up"), start(kind, where, blocks, "down"));
    for (int heat = 0; heat <= Math.ceilDiv(blocks, SLOTS); heat++) {
      for (var child : children) {
        if (child.getInputStream().read() == READY) continue;
        throw new AssertionError("a child ended with " + child.waitFor());
      }
      // In turns, since whoever hears it first has an advantage.
      for (var child : heat % 2 == 0 ? children : children.reversed()) {
        child.getOutputStream().write(READY);
        child.getOutputStream().flush();
      }
    }
    var accounts = new ArrayList<Account>();
    for (var child : children) {
      var output = new String(child.getInputStream().readAllBytes(), UTF_8);
      if (child.waitFor() != 0) throw new AssertionError(output);
      var figures = output.strip().lines().toList().getLast().split(" ", -1);
      accounts.add(
          new Account(
              Long.parseLong(figures[0]), Long.parseLong(figures[1]), Long.parseLong(figures[2])));
    }
    return accounts;
  }

  private static Process start(String kind, String where, int blocks, String way)
      throws IOException {
    var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    return new ProcessBuilder(
            java,
            "-XX:TieredStopAtLevel=1",
            "-Xmx256m",
            "-Daws.accessKeyId=anybody",
            "-Daws.secretAccessKey=anything",
            "-cp",
            System.getProperty("java.class.path"),
            RaceChild.class.getName(),
            kind,
            where,
            "" + blocks,
            way)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** A store as the children have it. */
  public static SharedShelf shelf(String kind, String where) {
    var seals = BlockSeals.of(BLOCK_BYTES, 3, SealSettings.CHECKSUM);
    return new SharedShelf(
        SLOTS,
        BLOCK_BYTES,
        (loop, above) ->
            switch (kind) {
              case "remote" -> RedisBlocks.open(loop, above, RemoteSettings.of(where), seals);
              case "object" -> ObjectBlocks.open(loop, above, patient(URI.create(where)), seals);
              default -> throw new IllegalArgumentException(kind);
            });
  }

  /** On a busy machine an upload takes its time; one that is given up counts as failed. */
  private static ObjectSettings patient(URI bucket) {
    return ObjectSettings.of(bucket, "blocks").withClaimTtl(Duration.ofMinutes(2));
  }

  public static void main(String[] arguments) throws IOException {
    Quiet.please();
    try (var shelf = shelf(arguments[0], arguments[1])) {
      // Warm before the first heat.
      shelf.look(List.of(TestBlocks.block(0)));
      int blocks = Integer.parseInt(arguments[2]);
      for (int first = 0; first < blocks; first += SLOTS) {
        awaitSignal();
        var heat = keys(first, Math.min(blocks, first + SLOTS));
        store(shelf, arguments[3].equals("up") ? heat : heat.reversed());
      }
      awaitSignal();
      var stats = shelf.store.stats();
      System.out.println("\n" + stats.stored() + " " + stats.present() + " " + stats.failed());
    }
  }

  private static void awaitSignal() throws IOException {
    System.out.write(READY);
    System.out.flush();
    var _ = System.in.read();
  }

  /** Stores all of them, or finds that the other one has. */
  private static void store(SharedShelf shelf, List<Long> keys) {
    var left = keys;
    for (int round = 0; !left.isEmpty() && round < ROUNDS_MAX; round++) {
      var outcomes = shelf.store(left);
      var again = new ArrayList<Long>();
      for (int i = 0; i < left.size(); i++) {
        if (!(outcomes.get(i) instanceof Copied)) again.add(left.get(i));
      }
      left = again;
    }
    if (!left.isEmpty()) throw new IllegalStateException(left.size() + " blocks are left");
  }
}
