package dev.kvasir.events;

import dev.kvasir.Nullable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.zeromq.ZMQ;

/** The frames of messages: what is said around a batch. */
final class WireFrames {
  static final byte[] EMPTY = {};

  /** The number that ends an answer. */
  static final long END = -1;

  /** A batch with its number, not yet decoded. */
  @SuppressWarnings("ArrayRecordComponent") // never compared, and as it came
  record Numbered(long sequence, byte[] payload) {
    boolean isEnd() {
      return sequence == END;
    }
  }

  private static final int FRAMES_MAX = 8;

  private WireFrames() {}

  /** The frames of the message that comes next; of one that has too many, not all. */
  static List<byte[]> of(ZMQ.Socket socket) {
    var frames = new ArrayList<byte[]>(4);
    byte @Nullable [] frame = socket.recv(ZMQ.DONTWAIT);
    while (frame != null) {
      if (frames.size() < FRAMES_MAX) frames.add(frame);
      frame = socket.hasReceiveMore() ? socket.recv() : null;
    }
    return frames;
  }

  /** Asks a publisher for what begins with the topic. */
  static byte[] subscription(byte[] topic) {
    return ByteBuffer.allocate(1 + topic.length).put((byte) 1).put(topic).array();
  }

  static byte[] number(long sequence) {
    return ByteBuffer.allocate(Long.BYTES).putLong(sequence).array();
  }

  /** Reads what a publisher sent: topic, number, batch; null if it is none, or of another topic. */
  static @Nullable Numbered live(List<byte[]> frames, byte[] topic) {
    return frames.size() == 3 && beginsWith(frames.getFirst(), topic) ? numbered(frames, 1) : null;
  }

  private static boolean beginsWith(byte[] frame, byte[] topic) {
    return frame.length >= topic.length
        && Arrays.equals(frame, 0, topic.length, topic, 0, topic.length);
  }

  /** Reads an engine's answer: nothing, topic, number, batch; older engines leave the topic out. */
  static @Nullable Numbered replayed(List<byte[]> frames) {
    int size = frames.size();
    if (size < 3 || size > 4 || frames.getFirst().length > 0) return null;
    return numbered(frames, size - 2);
  }

  /** From which number on to repeat, in frames of a peer: peer, nothing, number; -1 if not. */
  static long requestedSequence(List<byte[]> frames) {
    if (frames.size() != 3 || frames.get(1).length > 0) return END;
    var number = frames.get(2);
    return number.length == Long.BYTES ? ByteBuffer.wrap(number).getLong() : END;
  }

  private static @Nullable Numbered numbered(List<byte[]> frames, int at) {
    var number = frames.get(at);
    if (number.length != Long.BYTES) return null;
    long sequence = ByteBuffer.wrap(number).getLong();
    return sequence < END ? null : new Numbered(sequence, frames.get(at + 1));
  }
}
