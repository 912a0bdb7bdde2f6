package dev.kvasir.live.store;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** Arrays of one length that can be used again, a bounded number of them; for any thread. */
final class SpareArrays {
  private final int length;
  private final BlockingQueue<byte[]> spare;

  /** None at first, and never more than so many bytes, but for one array at least. */
  SpareArrays(int length, long bytesMax) {
    this.length = length;
    this.spare = new ArrayBlockingQueue<>(Math.clamp(bytesMax / length, 1, 1 << 16));
  }

  /** One that nobody else has; what is in it is left from before. */
  byte[] take() {
    var array = spare.poll();
    return array == null ? new byte[length] : array;
  }

  /** Takes back what nobody will look at again; whatever is of another length is let go. */
  void give(byte[] array) {
    if (array.length == length) spare.offer(array);
  }
}
