package dev.kvasir.tierd.offline;

import dev.kvasir.net.LiveLoop;
import dev.kvasir.net.OwnedResources;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.tierd.cache.TierFolder;
import dev.kvasir.tierd.protocol.Namespace;
import dev.kvasir.tiers.disk.Ack;
import dev.kvasir.tiers.disk.DiskSettings;
import dev.kvasir.tiers.disk.DiskStore;
import dev.kvasir.tiers.disk.Recovered;
import dev.kvasir.tiers.host.HostMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Contents of a namespace on disk while no daemon has it open: the folder is locked meanwhile.
 *
 * <p>Calls wait for the disk.
 */
public final class TierContents implements AutoCloseable {
  private static final int THREADS = 1;
  private static final int QUEUE_MAX = 16;

  private final OwnedResources owned = new OwnedResources();
  private final Namespace namespace;
  private final HostMemory memory;
  private final DiskStore store;

  private TierContents(TierFolder folder, Namespace namespace) throws IOException {
    this.namespace = namespace;
    int bytes = namespace.rowBytes();
    long slots = Files.size(folder.blocks().resolve("blocks.kv")) / HostMemory.strideBytes(bytes);
    var settings =
        new DiskSettings(
            folder.blocks(),
            Math.toIntExact(slots),
            bytes,
            namespace.layout(),
            Ack.STORED,
            THREADS,
            QUEUE_MAX);
    var loop = owned.add(new LiveLoop("kvasir-tier-contents"));
    this.memory = owned.add(new HostMemory("one chunk", 1, bytes));
    try {
      this.store = owned.add(DiskStore.inspect(loop, memory, settings));
    } catch (IOException | RuntimeException e) {
      owned.close();
      throw e;
    }
  }

  /** Opens it; an {@link IOException} says what is wrong, as when a daemon has it. */
  public static TierContents open(TierFolder folder) throws IOException {
    var namespace = folder.namespace();
    if (namespace == null) throw new IOException(folder.path() + " has no text of a namespace");
    return new TierContents(folder, namespace);
  }

  public Namespace namespace() {
    return namespace;
  }

  /** All chunks, in the order in which they were stored. */
  public List<Recovered> chunks() {
    return store.recovered();
  }

  /** The bytes of a chunk, valid until the next call; empty where they are not what was stored. */
  public Optional<MemorySegment> read(Recovered chunk) {
    var answer = new CompletableFuture<List<CopyOutcome>>();
    var copy = new BlockCopy(chunk.block(), 0, chunk.slot());
    store.load(List.of(copy), answer::complete);
    boolean good = answer.join().getFirst() instanceof CopyOutcome.Copied;
    return good ? Optional.of(memory.slot(0)) : Optional.empty();
  }

  @Override
  public void close() {
    owned.close();
  }
}
