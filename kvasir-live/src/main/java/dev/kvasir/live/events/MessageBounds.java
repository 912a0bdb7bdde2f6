package dev.kvasir.live.events;

import zmq.Msg;
import zmq.msg.MsgAllocator;

/**
 * Bounds what a socket holds of messages that nobody has taken yet.
 *
 * <p>ZeroMQ bounds one frame, and counts messages only when they are complete: a message without
 * end would fill the memory. So a message that has too many parts or bytes is ended here, and
 * whoever listens is told that the peer is not to be listened to. The same holds for a peer that
 * sends faster than is taken. Called by the threads of ZeroMQ and by the one that takes.
 */
final class MessageBounds implements MsgAllocator {
  /** What a peer did that is too much. */
  enum Excess {
    FRAME("a frame of more than %d bytes"),
    PARTS("a message of more than %d parts"),
    BYTES("a message of more than %d bytes"),
    BACKLOG("more than %d bytes that wait to be read");

    private final String text;

    Excess(String text) {
      this.text = text;
    }

    String text(MessageBounds bounds) {
      long most =
          switch (this) {
            case FRAME -> bounds.frameBytesMax;
            case PARTS -> PARTS_MAX;
            case BYTES -> bounds.messageBytesMax;
            case BACKLOG -> bounds.backlogBytesMax;
          };
      return text.formatted(most);
    }
  }

  /** A batch has three or four. */
  static final int PARTS_MAX = 64;

  private static final int BACKLOG_MESSAGES = 4;

  /** A frame that can be made the last one of its message. */
  private static final class Part extends Msg {
    private volatile boolean last;

    Part(int size) {
      super(size);
    }

    @Override
    public boolean hasMore() {
      return !last && super.hasMore();
    }

    boolean wasToGoOn() {
      return super.hasMore();
    }
  }

  private final int frameBytesMax;
  private final long messageBytesMax;
  private final long backlogBytesMax;
  private final Runnable exceeded;
  private Part before = new Part(0);
  private int parts;
  private long bytes;
  private long backlog;
  private Excess found;
  private boolean isExceeded;

  /**
   * Nothing is held yet.
   *
   * @param frameBytesMax what the socket takes as one frame
   * @param exceeded is run on a thread of ZeroMQ when a peer sends too much
   */
  MessageBounds(int frameBytesMax, Runnable exceeded) {
    this.frameBytesMax = frameBytesMax;
    this.messageBytesMax = 2L * frameBytesMax;
    this.backlogBytesMax = BACKLOG_MESSAGES * (long) frameBytesMax;
    this.exceeded = exceeded;
    this.found = Excess.PARTS;
  }

  /** Refuses frames by their length alone, for sockets that are only asked for something. */
  static MsgAllocator ofFrames(int bytesMax) {
    return size -> new Msg(isWithin(size, bytesMax) ? size : 0);
  }

  /**
   * ZeroMQ refuses lengths over its maximum, but takes one of 64 bits that is negative, and asks
   * here for its lower half.
   */
  private static boolean isWithin(int size, int bytesMax) {
    return size >= 0 && size <= bytesMax;
  }

  @Override
  public synchronized Msg allocate(int size) {
    if (!isWithin(size, frameBytesMax)) {
      exceed(Excess.FRAME);
      return new Msg();
    }
    boolean goesOn = before.wasToGoOn();
    parts = goesOn ? parts + 1 : 1;
    bytes = goesOn ? bytes + size : size;
    backlog += size;
    var part = new Part(size);
    before = part;
    if (parts > PARTS_MAX) exceed(Excess.PARTS);
    else if (bytes > messageBytesMax) exceed(Excess.BYTES);
    else if (backlog > backlogBytesMax) exceed(Excess.BACKLOG);
    // From here on every frame is a message of its own, which ZeroMQ counts and the reader drops.
    part.last = parts >= PARTS_MAX || bytes > messageBytesMax;
    return part;
  }

  private void exceed(Excess what) {
    if (isExceeded) return;
    isExceeded = true;
    found = what;
    exceeded.run();
  }

  /** So many bytes have been taken. */
  synchronized void taken(long count) {
    backlog = Math.max(0, backlog - count);
  }

  /** Nothing waits to be taken. */
  synchronized void drained() {
    backlog = 0;
  }

  synchronized boolean isExceeded() {
    return isExceeded;
  }

  /** What was too much, in words. */
  synchronized String excess() {
    return found.text(this);
  }

  /** The connection is another one. */
  synchronized void reset() {
    before = new Part(0);
    backlog = 0;
    isExceeded = false;
  }
}
