package dev.kvasir.live.store.shared;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.live.store.HostMemory;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.IntPredicate;

/** Blocks in a folder that several machines have mounted: a file for each. */
public final class FolderBlocks implements BlockTransport {
  private static final String GENERATION = "generation";
  private static final String UNFINISHED = ".part";

  private final Path folder;
  private final int sealedBytes;

  private FolderBlocks(Path folder, BlockSeals seals) throws IOException {
    this.folder = Files.createDirectories(folder.resolve(seals.namespace()));
    this.sealedBytes = seals.sealedBytes();
  }

  /** A tier in that folder below those slots. */
  public static SharedStore open(
      EventLoop loop, HostMemory above, Path folder, SharedLimits limits, BlockSeals seals)
      throws IOException {
    var transport = new FolderBlocks(folder, seals);
    var threads = Thread.ofPlatform().daemon(true);
    return new SharedStore(threads, "folder", loop, above, limits, seals, transport);
  }

  @Override
  public void fetch(List<TokenBlock> blocks, BiConsumer<BlockHash, Fetched> each) {
    for (var block : blocks) each.accept(block.hash(), fetched(file(block)));
  }

  private Fetched fetched(Path file) {
    try {
      // What has another size is no block of ours, and is not read.
      if (Files.size(file) != sealedBytes) return new Fetched.Absent();
      return new Fetched.Found(ByteBuffer.wrap(Files.readAllBytes(file)));
    } catch (NoSuchFileException _) {
      return new Fetched.Absent();
    } catch (IOException e) {
      return new Fetched.Lost("" + e.getMessage());
    }
  }

  @Override
  public Map<BlockHash, Sent> send(List<Parcel> parcels) {
    var sent = new LinkedHashMap<BlockHash, Sent>();
    for (var parcel : parcels) sent.put(parcel.block().hash(), sent(parcel));
    return sent;
  }

  private Sent sent(Parcel parcel) {
    var file = file(parcel.block());
    if (parcel.write() == Write.IF_ABSENT && Files.exists(file)) return new Sent.Present();
    try {
      write(file, parcel.sealed().bytes());
      return new Sent.Written();
    } catch (IOException e) {
      return new Sent.Refused("" + e.getMessage());
    }
  }

  /** Renames it when it is whole. */
  private void write(Path file, byte[] bytes) throws IOException {
    var part = Files.createTempFile(folder, "", UNFINISHED);
    try {
      Files.write(part, bytes);
      Files.move(part, file, ATOMIC_MOVE, REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  @Override
  public Map<BlockHash, Presence> look(List<TokenBlock> blocks) {
    var seen = new LinkedHashMap<BlockHash, Presence>();
    for (var block : blocks) {
      seen.put(block.hash(), Files.exists(file(block)) ? Presence.THERE : Presence.ABSENT);
    }
    return seen;
  }

  @Override
  public List<TokenBlock> list(int blocksMax) throws IOException {
    var blocks = new ArrayList<TokenBlock>();
    try (var files = Files.newDirectoryStream(folder)) {
      for (var file : files) {
        if (blocks.size() == blocksMax) break;
        var block = BlockName.parse(file.getFileName().toString());
        if (block != null) blocks.add(block);
      }
    }
    return blocks;
  }

  @Override
  public String generation() throws IOException {
    try {
      return Files.readString(folder.resolve(GENERATION), US_ASCII);
    } catch (NoSuchFileException _) {
      return "";
    }
  }

  @Override
  public void setGeneration(String generation) throws IOException {
    write(folder.resolve(GENERATION), generation.getBytes(US_ASCII));
  }

  @Override
  public void keepGeneration(String generation) throws IOException {
    if (generation().isEmpty()) setGeneration(generation);
  }

  @Override
  public void removeAll(IntPredicate removed) throws IOException {
    try (var files = Files.newDirectoryStream(folder)) {
      for (var file : files) {
        if (file.endsWith(GENERATION)) continue;
        boolean isBlock = BlockName.parse(file.getFileName().toString()) != null;
        boolean isGone = Files.deleteIfExists(file);
        if (!removed.test(isBlock && isGone ? 1 : 0)) return;
      }
    }
  }

  @Override
  public void doubt() {
    // A file has an end: nothing can be out of step.
  }

  @Override
  public void close() {
    // Every call closes what it has opened.
  }

  private Path file(TokenBlock block) {
    return folder.resolve(BlockName.of(block));
  }
}
