package dev.kvasir.tiers.shared;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.IntPredicate;

/**
 * A server that keeps sealed blocks for whoever shares it.
 *
 * <p>A port: Redis, or an object store. It moves bytes and does not check them. All methods block,
 * may be called from any thread and may be interrupted. What they return is found by the name of
 * the block, never by its place; a block without an answer has failed. An exception says that all
 * have. Nothing is tried twice: who asks has a breaker, and can compute.
 */
public interface BlockTransport extends AutoCloseable {
  /** Outcome of asking for one block. */
  sealed interface Fetched {
    /** These bytes are there; they are yet to be checked. */
    record Found(ByteBuffer bytes) implements Fetched {}

    /** It is not there, be it that it never was. */
    record Absent() implements Fetched {}

    /** Nobody knows. */
    record Lost(String reason) implements Fetched {}
  }

  /** Outcome of sending one block. */
  sealed interface Sent {
    /** It is there now, by us. */
    record Written() implements Sent {}

    /** It was there already, by whomever. */
    record Present() implements Sent {}

    /** Another one is sending it just now. */
    record Busy(String who) implements Sent {}

    /** It could not be sent. */
    record Refused(String reason) implements Sent {}
  }

  /** Choice of whether what is there already may stay. */
  enum Write {
    IF_ABSENT,
    /** Replacement of something that was found to be wrong. */
    REPLACE
  }

  /** A block to send. */
  record Parcel(TokenBlock block, SealedBlock sealed, Write write) {
    /** Not over the bytes, which are many, and which the name of the block stands for. */
    @Override
    public int hashCode() {
      return block.hash().hashCode();
    }
  }

  /**
   * Fetches the blocks, and says of each what came of it as soon as it is known: by the thread that
   * asks, and never after this returns. The bytes are only lent.
   */
  void fetch(List<TokenBlock> blocks, BiConsumer<BlockHash, Fetched> each) throws IOException;

  Map<BlockHash, Sent> send(List<Parcel> parcels) throws IOException;

  /** Returns which of the blocks are there, as far as the server says. */
  Map<BlockHash, Presence> look(List<TokenBlock> blocks) throws IOException;

  /** Some of what is there, at most so many. */
  List<TokenBlock> list(int blocksMax) throws IOException;

  /** Returns the generation of this tier that was last set, by any process; empty if none was. */
  String generation() throws IOException;

  /** Sets the generation of this tier, for all who share it. */
  void setGeneration(String generation) throws IOException;

  /** Sets it where there is none: a server may have lost it. */
  void keepGeneration(String generation) throws IOException;

  /**
   * Removes all blocks, page by page.
   *
   * @param removed hears how many were removed, after each page; false ends it
   */
  void removeAll(IntPredicate removed) throws IOException;

  /** Hears that wrong bytes came: lets go of connections that may be out of step. */
  void doubt();

  @Override
  void close();
}
