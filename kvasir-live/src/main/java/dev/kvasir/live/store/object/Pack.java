package dev.kvasir.live.store.object;

import dev.kvasir.kv.BlockHash;
import dev.kvasir.live.store.BlockTransport.Parcel;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
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

  /** How long the list is. */
  static int listBytes(int packBlocks) {
    return packBlocks * HASH_BYTES;
  }

  /** The object; the list has room for so many, and zeros where there are fewer. */
  static RequestBody body(List<Parcel> parcels, int packBlocks) {
    var list = ByteBuffer.allocate(listBytes(packBlocks));
    long length = list.capacity();
    var parts = new ArrayList<byte[]>();
    parts.add(list.array());
    for (var parcel : parcels) {
      list.put(parcel.block().hash().bytes());
      parts.add(parcel.sealed().array());
      length += parcel.sealed().capacity();
    }
    return RequestBody.fromContentProvider(() -> stream(parts), length, "application/octet-stream");
  }

  private static InputStream stream(List<byte[]> parts) {
    var streams = new ArrayList<InputStream>();
    for (var part : parts) streams.add(new ByteArrayInputStream(part));
    return new SequenceInputStream(Collections.enumeration(streams));
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
