package dev.kvasir.tiers.host;

/** Properties that must match for the bytes in a folder to be readable. */
public record DiskFormat(int blockBytes, long layout) {
  /** Goes up with every change of what is written; there is no reading of other versions. */
  public static final int VERSION = 1;
}
