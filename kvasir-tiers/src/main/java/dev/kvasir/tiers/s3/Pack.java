package dev.kvasir.tiers.s3;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.tiers.shared.BlockTransport.Parcel;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.core.sync.RequestBody;

/**
 * An object of several sealed blocks: the list of their hashes, then the blocks, all of one size.
 *
 * <p>The list only helps to find them. Each block vouches for itself.
 */
final class Pack {
  private static final int HASH_BYTES = 32;

  private Pack() {}

  /** Returns how many bytes the list has. */
  static int listBytes(int packBlocks) {
    return packBlocks * HASH_BYTES;
  }

  /** The object; the list has room for so many, and zeros where there are fewer. */
  static RequestBody body(List<Parcel> parcels, int packBlocks) {
    var list = ByteBuffer.allocate(listBytes(packBlocks));
    long length = list.capacity();
    var parts = new ArrayList<ByteBuffer>();
    parts.add(list);
    for (var parcel : parcels) {
      list.put(parcel.block().hash().bytes());
      parts.addAll(parcel.sealed().parts());
      length += parcel.sealed().length();
    }
    var type = "application/octet-stream";
    return RequestBody.fromContentProvider(() -> new BufferStream(parts), length, type);
  }

  /** At which place in the pack each block of the list is. */
  static Map<BlockHash, Integer> places(byte[] list) {
    var places = new LinkedHashMap<BlockHash, Integer>();
    var nothing = new BlockHash(0, 0, 0, 0);
    for (int i = 0; i < list.length / HASH_BYTES; i++) {
      var bytes = new byte[HASH_BYTES];
      System.arraycopy(list, i * HASH_BYTES, bytes, 0, HASH_BYTES);
      var hash = BlockHash.of(bytes);
      if (!hash.equals(nothing)) places.putIfAbsent(hash, i);
    }
    return places;
  }
}
