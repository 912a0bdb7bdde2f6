package dev.kvasir.tiers.disk;

/**
 * Guarantee that a disk store gives when it answers that a block is stored.
 *
 * <p>Below both there is <em>accepted</em>: the block waits in the queue, which promises nothing
 * and therefore is not an answer. The bytes are still in the slot above, and giving that back
 * before they are written is how other caches came to store the next block's bytes.
 */
public enum Ack {
  /** Readable by this process, and by the next one unless the machine stops. */
  STORED,
  /**
   * Readable after the machine has stopped at any time since: synced, the index after the bytes.
   */
  DURABLE
}
