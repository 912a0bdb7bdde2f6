package dev.kvasir.tiers.disk;

/** Way in which the bytes of a file reach the disk. */
public enum FileAccess {
  /** From our memory to the device, past the kernel's cache. */
  DIRECT,
  /** Through the kernel's cache. */
  BUFFERED
}
