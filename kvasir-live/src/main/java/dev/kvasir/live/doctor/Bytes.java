package dev.kvasir.live.doctor;

import java.util.Locale;

/** Writes a number of bytes as people read it. */
public final class Bytes {
  static final long GIB = 1L << 30;
  private static final long MIB = 1L << 20;

  private Bytes() {}

  public static String text(long bytes) {
    return bytes >= GIB
        ? String.format(Locale.ROOT, "%.1f GiB", (double) bytes / GIB)
        : String.format(Locale.ROOT, "%.1f MiB", (double) bytes / MIB);
  }
}
