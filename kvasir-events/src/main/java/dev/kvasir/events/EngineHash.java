package dev.kvasir.events;

import dev.kvasir.kv.name.BlockHash;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** A block's name as its engine made it; only that engine can say what it stands for. */
public sealed interface EngineHash {
  /** The usual form: 64 bits, which vLLM writes unsigned and SGLang signed. */
  record Word(long bits) implements EngineHash {}

  /**
   * A whole digest.
   *
   * @param padded the digest, with zeros behind it where it is shorter than 32 bytes
   * @param bytes how many bytes it has
   */
  record Digest(BlockHash padded, int bytes) implements EngineHash {
    static final int BYTES_MAX = 32;

    public Digest {
      if (bytes < 1 || bytes > BYTES_MAX) {
        throw new IllegalArgumentException("digest of " + bytes + " bytes");
      }
    }

    static Digest of(byte[] digest) {
      return new Digest(BlockHash.of(Arrays.copyOf(digest, BYTES_MAX)), digest.length);
    }

    byte[] digest() {
      return Arrays.copyOf(padded.bytes(), bytes);
    }
  }

  /** The last 64 bits: what engines that write whole digests and those that do not agree on. */
  default long lastBits() {
    return switch (this) {
      case Word(long bits) -> bits;
      case Digest(var padded, int bytes) -> {
        var digest = ByteBuffer.wrap(padded.bytes());
        yield bytes < Long.BYTES ? digest.getLong(0) : digest.getLong(bytes - Long.BYTES);
      }
    };
  }

  /** Form in which an engine of ours writes the names of its blocks. */
  enum Form {
    /** The last 64 bits, as vLLM does by default. */
    WORD,
    /** All 256 bits. */
    DIGEST;

    public EngineHash of(BlockHash hash) {
      return switch (this) {
        case WORD -> new Word(hash.fourth());
        case DIGEST -> new Digest(hash, Digest.BYTES_MAX);
      };
    }
  }
}
