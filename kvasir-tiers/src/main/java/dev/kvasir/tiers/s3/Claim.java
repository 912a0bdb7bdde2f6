package dev.kvasir.tiers.s3;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.kvasir.Nullable;
import java.util.regex.Pattern;

/**
 * Content of the small object of a block: who stores the block, and in which pack it will be.
 *
 * <p>It is written before the pack, which appears whole or not at all. So a claim whose pack is
 * there says where the block is, and a claim without one is somebody at work, or dead.
 *
 * @param owner a number of chance for each process
 * @param pack the name of the object with the bytes
 * @param packBlocks how many blocks the pack has at most: that long is its list of them
 */
record Claim(String owner, String pack, int packBlocks) {
  private static final Pattern TEXT =
      Pattern.compile("kvasir-claim 1 ([0-9a-f]{16}) ([0-9a-f]{16}-[0-9a-f]{1,16}) (\\d{1,4})");

  byte[] bytes() {
    return ("kvasir-claim 1 " + owner + " " + pack + " " + packBlocks).getBytes(US_ASCII);
  }

  /** The claim that the text is; null if it is none. */
  static @Nullable Claim parse(String text) {
    var matcher = TEXT.matcher(text);
    if (!matcher.matches()) return null;
    int blocks = Integer.parseInt(matcher.group(3));
    return new Claim(matcher.group(1), matcher.group(2), blocks);
  }
}
