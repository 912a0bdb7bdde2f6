package dev.kvasir.tiers.s3;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** All bytes of some buffers, one buffer behind the other. */
final class BufferStream extends InputStream {
  private final Deque<ByteBuffer> left = new ArrayDeque<>();

  BufferStream(List<ByteBuffer> buffers) {
    for (var buffer : buffers) left.add(buffer.duplicate().clear());
  }

  @Override
  public int read() {
    return next() == 0 ? -1 : left.element().get() & 0xff;
  }

  @Override
  public int read(byte[] into, int from, int length) {
    if (length == 0) return 0;
    int count = Math.min(length, next());
    if (count == 0) return -1;
    left.element().get(into, from, count);
    return count;
  }

  /** Returns how much is left of the buffer that is next; 0 at the end. */
  private int next() {
    while (!left.isEmpty() && !left.element().hasRemaining()) left.remove();
    return left.isEmpty() ? 0 : left.element().remaining();
  }
}
