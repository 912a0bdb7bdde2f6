package dev.kvasir.events;

import java.util.ArrayDeque;

/** The last batches that were published, within bounds, for those who missed some. */
final class ReplayBuffer {
  /** Takes batches in the order of their numbers. */
  @FunctionalInterface
  interface Reader {
    void batch(long sequence, byte[] payload);
  }

  private final int batchesMax;
  private final long bytesMax;
  private final ArrayDeque<byte[]> payloads = new ArrayDeque<>();
  private long bytes;
  private long next;

  ReplayBuffer(int batchesMax, long bytesMax) {
    this.batchesMax = batchesMax;
    this.bytesMax = bytesMax;
  }

  /** Keeps the payload, and answers its number. */
  long add(byte[] payload) {
    payloads.addLast(payload);
    bytes += payload.length;
    while (payloads.size() > batchesMax || bytes > bytesMax) {
      bytes -= payloads.removeFirst().length;
    }
    return next++;
  }

  /** Tells what there is from the number on. */
  void from(long sequence, Reader reader) {
    long at = next - payloads.size();
    for (var payload : payloads) {
      if (at >= sequence) reader.batch(at, payload);
      at++;
    }
  }
}
