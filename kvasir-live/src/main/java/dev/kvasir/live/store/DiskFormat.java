package dev.kvasir.live.store;

/** What must be the same for the bytes in a folder to mean anything to us. */
public record DiskFormat(int blockBytes, long layout) {
  /** Goes up with every change of what is written; there is no reading of other versions. */
  public static final int VERSION = 1;
}
