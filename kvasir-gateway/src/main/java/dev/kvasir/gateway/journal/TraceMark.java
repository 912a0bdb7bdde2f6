package dev.kvasir.gateway.journal;

import dev.kvasir.Nullable;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;

/**
 * Position of a request in a trace, as W3C's {@code traceparent} tells it.
 *
 * @param trace 32 hexadecimal digits
 * @param span span of what the gateway does for the request, 16 digits
 * @param parent span of what the caller did when it asked, 16 digits; empty where it told nothing
 * @param sampled whether the caller wants it recorded
 */
public record TraceMark(String trace, String span, String parent, boolean sampled) {
  public static final String HEADER = "traceparent";

  private static final Pattern TOLD =
      Pattern.compile("00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([0-9a-f])");

  /** A span in the trace that the caller told of, or in a new one. */
  public static TraceMark of(@Nullable String header) {
    var match = TOLD.matcher(header == null ? "" : header);
    if (!match.matches()) return new TraceMark(digits() + digits(), digits(), "", true);
    boolean sampled = Character.digit(match.group(3).charAt(0), 16) % 2 == 1;
    return new TraceMark(match.group(1), digits(), match.group(2), sampled);
  }

  /** Sixteen digits, not all of them zero. */
  static String digits() {
    return HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE));
  }

  /** Returns the header that workers are sent: their parent is the gateway. */
  public String header() {
    return "00-" + trace + "-" + span + (sampled ? "-01" : "-00");
  }
}
