package dev.kvasir.live.store;

import static dev.kvasir.live.store.SharedShelf.keys;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kvasir.live.store.object.ObjectBlocks;
import dev.kvasir.live.store.object.ObjectSettings;
import dev.kvasir.live.store.remote.RedisBlocks;
import dev.kvasir.live.store.remote.RemoteSettings;
import dev.kvasir.offload.CopyOutcome.Copied;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A process that stores the same blocks as another one at the same time. */
public final class RaceChild {
  public static final int BLOCK_BYTES = 16 << 10;

  private static final int SLOTS = 64;
  private static final int ROUNDS_MAX = 1000;

  private RaceChild() {}

  /** What a child has done. */
  public record Account(long stored, long present, long failed) {}

  /** Runs two of them to their ends. */
  public static List<Account> race(String kind, String where, int blocks)
      throws IOException, InterruptedException {
    var children = List.of(start(kind, where, blocks), start(kind, where, blocks));
    for (var child : children) {
      int ready = child.getInputStream().read();
      if (ready < 0) throw new AssertionError("a child ended with " + child.waitFor());
    }
    for (var child : children) child.getOutputStream().close();
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

  private static Process start(String kind, String where, int blocks) throws IOException {
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
            "" + blocks)
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
              case "object" ->
                  ObjectBlocks.open(
                      loop, above, ObjectSettings.of(URI.create(where), "blocks"), seals);
              default -> throw new IllegalArgumentException(kind);
            });
  }

  public static void main(String[] arguments) throws IOException {
    Quiet.please();
    try (var shelf = shelf(arguments[0], arguments[1])) {
      // Warm, and at the line; the race begins when the other is, too.
      shelf.look(List.of(TestBlocks.block(0)));
      System.out.println("ready");
      var _ = System.in.read();
      var left = keys(0, Integer.parseInt(arguments[2]));
      for (int round = 0; !left.isEmpty() && round < ROUNDS_MAX; round++) {
        var outcomes = shelf.store(left);
        var again = new ArrayList<Long>();
        for (int i = 0; i < left.size(); i++) {
          if (!(outcomes.get(i) instanceof Copied)) again.add(left.get(i));
        }
        left = again;
      }
      var stats = shelf.store.stats();
      System.out.println(stats.stored() + " " + stats.present() + " " + stats.failed());
      if (!left.isEmpty()) throw new IllegalStateException(left.size() + " blocks are left");
    }
  }
}
