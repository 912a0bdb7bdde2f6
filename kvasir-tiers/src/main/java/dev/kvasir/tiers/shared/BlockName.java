package dev.kvasir.tiers.shared;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.util.regex.Pattern;

/**
 * The name of a block on a shared tier: hash, parent and position, so that a list of names is
 * enough to know the blocks.
 *
 * <p>Only hexadecimal digits and dots: no name of a model or a tenant goes to a server.
 */
public final class BlockName {
  private static final Pattern NAME =
      Pattern.compile("([0-9a-f]{64})\\.([0-9a-f]{64})?\\.([0-9a-f]{1,8})");
  private static final int HEX = 16;

  private BlockName() {}

  public static String of(TokenBlock block) {
    var parent = block.parent();
    return block.hash()
        + "."
        + (parent == null ? "" : parent)
        + "."
        + Integer.toHexString(block.position());
  }

  /** The block of that name; null if it is not a name of ours. */
  public static @Nullable TokenBlock parse(String name) {
    var matcher = NAME.matcher(name);
    if (!matcher.matches()) return null;
    var parent = matcher.group(2);
    try {
      return TokenBlock.named(
          BlockHash.parse(matcher.group(1)),
          parent == null ? null : BlockHash.parse(parent),
          Integer.parseInt(matcher.group(3), HEX));
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}
