package dev.kvasir.kv.evict;

/** A first-in first-out queue of numbers, of fixed size. */
public final class IntQueue {
  private final int[] ring;
  private int first;
  private int size;

  public IntQueue(int sizeMax) {
    ring = new int[sizeMax];
  }

  public int size() {
    return size;
  }

  /** The number that so many stand before. */
  public int get(int before) {
    if (before >= size) throw new IndexOutOfBoundsException(before + " of " + size);
    int at = first + before;
    return ring[at < ring.length ? at : at - ring.length];
  }

  public void add(int number) {
    if (size == ring.length) throw new IllegalStateException("queue full with " + size);
    int at = first + size;
    if (at >= ring.length) at -= ring.length;
    ring[at] = number;
    size++;
  }

  public int remove() {
    if (size == 0) throw new IllegalStateException("queue empty");
    int number = ring[first];
    if (++first == ring.length) first = 0;
    size--;
    return number;
  }
}
