package dev.kvasir.tiers.disk;

import dev.kvasir.net.PrivateFiles;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome.Copied;
import dev.kvasir.tiers.host.Caller;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.TestBlocks;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * A process that stores blocks until somebody ends it, and tells of each what it is about to do and
 * what it has done.
 */
final class StoreChild {
  static final int HALTED = 77;
  static final int BLOCKS = 48;
  static final int BLOCK_BYTES = 16 << 10;
  private static final int BATCH_MAX = 8;

  /** Points at which a process can be halted. */
  static final List<String> POINTS =
      List.of(
          "write blocks.kv before",
          "write blocks.kv half",
          "write blocks.kv after",
          "write index.log before",
          "write index.log half",
          "write index.log after",
          "sync blocks.kv before",
          "sync blocks.kv after",
          "sync index.log before",
          "sync index.log after",
          "open index.new after",
          "write index.new before",
          "write index.new half",
          "write index.new after",
          "sync index.new before",
          "sync index.new after",
          "rename index.new before",
          "rename index.new after",
          "sync . before",
          "sync . after");

  private StoreChild() {}

  /** Starts the child in a process of its own. */
  static Process start(String what, Path folder, String point, String... more) throws IOException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"));
    command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", classPath()));
    command.addAll(List.of(StoreChild.class.getName(), what, folder.toString(), point));
    command.addAll(List.of(more));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /** Only what the child needs: a short path starts sooner. */
  private static String classPath() {
    var path = new ArrayList<String>();
    for (var type : List.of(StoreChild.class, DiskStore.class, Copied.class, PrivateFiles.class)) {
      var source = type.getProtectionDomain().getCodeSource().getLocation().getPath();
      if (!path.contains(source)) path.add(source);
    }
    return String.join(File.pathSeparator, path);
  }

  public static void main(String[] arguments) throws Exception {
    var folder = Path.of(arguments[1]);
    if (arguments[0].equals("open")) {
      try {
        RealFolder.open(folder).close();
        System.out.println("opened");
      } catch (IOException e) {
        System.out.println(e.getMessage());
      }
      return;
    }
    int times = Integer.parseInt(arguments[3]);
    long seed = Long.parseLong(arguments[4]);
    var settings =
        DiskSettings.of(folder, BLOCKS, BLOCK_BYTES).with(seed % 4 == 0 ? Ack.STORED : Ack.DURABLE);
    var caller = new Caller();
    var above = new HostMemory("above", BATCH_MAX, BLOCK_BYTES);
    var halting = new HookedFolder(RealFolder.open(folder));
    halting.hook(new Halt(arguments[2], new AtomicInteger(times)));
    var store = new DiskStore(caller.loop, above, settings, halting);
    print("open");
    var random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    for (long key = seed * 1_000_000; ; key += BATCH_MAX) {
      batch(caller, store, above, key, random);
    }
  }

  private static void batch(
      Caller caller, DiskStore store, HostMemory above, long first, RandomGenerator random) {
    var copies = new ArrayList<BlockCopy>();
    int at = random.nextInt(BLOCKS);
    int count = 1 + random.nextInt(BATCH_MAX);
    for (int i = 0; i < count; i++) {
      int slot = (at + i * 5) % BLOCKS;
      TestBlocks.fill(above.slot(i), first + i, 1);
      copies.add(new BlockCopy(TestBlocks.block(first + i), i, slot));
      print("begin " + slot);
    }
    var outcomes = caller.store(store, copies);
    for (int i = 0; i < count; i++) {
      if (outcomes.get(i) instanceof Copied)
        print("done " + copies.get(i).below() + " " + (first + i));
      else print("failed " + outcomes.get(i));
    }
  }

  /** One line, handed to the kernel at once, so that it outlives this process. */
  private static void print(String line) {
    PrintStream out = System.out;
    out.print(line + "\n");
    // Nobody listens any more: a test that was ended leaves no process behind.
    if (out.checkError()) Runtime.getRuntime().halt(1);
  }

  /** Ends the process at a named point, the so-manieth time. */
  private record Halt(String point, AtomicInteger times) implements HookedFolder.Hook {
    @Override
    public void before(String operation, String name) {
      at(operation, name, "before");
    }

    @Override
    public void half(String operation, String name) {
      at(operation, name, "half");
    }

    @Override
    public void after(String operation, String name) {
      at(operation, name, "after");
    }

    @Override
    public boolean halvesWrites() {
      return point.endsWith("half");
    }

    private void at(String operation, String name, String moment) {
      if (point.equals(operation + " " + name + " " + moment) && times.decrementAndGet() <= 0) {
        Runtime.getRuntime().halt(HALTED);
      }
    }
  }
}
