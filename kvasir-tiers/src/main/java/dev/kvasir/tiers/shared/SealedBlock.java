package dev.kvasir.tiers.shared;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A block as it may leave: its parts, one behind the other.
 *
 * <p>The bytes of the block may be those of the slot itself, since copying them costs as much as
 * sealing them. So it is good for as long as the copy is under way. Should the slot change before
 * that, then what was sent is not what was sealed, and nobody takes it for the block.
 */
public record SealedBlock(List<ByteBuffer> parts) {
  public SealedBlock {
    parts = List.copyOf(parts);
  }

  static SealedBlock of(ByteBuffer... parts) {
    return new SealedBlock(List.of(parts));
  }

  public int length() {
    int length = 0;
    for (var part : parts) length += part.capacity();
    return length;
  }

  /** All parts from their beginnings, for one who reads them. */
  public List<ByteBuffer> read() {
    var all = new ArrayList<ByteBuffer>();
    for (var part : parts) all.add(part.duplicate().clear());
    return all;
  }

  /** A copy of all. */
  public byte[] bytes() {
    var bytes = ByteBuffer.allocate(length());
    for (var part : read()) bytes.put(part);
    return bytes.array();
  }
}
