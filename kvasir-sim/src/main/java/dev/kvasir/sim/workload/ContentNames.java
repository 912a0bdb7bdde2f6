package dev.kvasir.sim.workload;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.List;

/** The blocks of a simulated request, each named when it is first asked for. */
public final class ContentNames implements BlockNames {
  private final Content content;
  private final int blockTokens;
  private final long salt;
  private final int shareable;
  private @Nullable Names names;
  private List<BlockHash> known = List.of();

  private ContentNames(Content content, int blockTokens, long salt, int shareable) {
    this.content = content;
    this.blockTokens = blockTokens;
    this.salt = salt;
    this.shareable = shareable;
  }

  /** The blocks of a content, apart from those with another salt. */
  public static ContentNames of(Content content, int blockTokens, long salt) {
    return new ContentNames(content, blockTokens, salt, Integer.MAX_VALUE);
  }

  /** The blocks of a request, which its tenant shares with nobody. */
  public static ContentNames of(Request request, int blockTokens) {
    return of(request.content(), blockTokens, request.caller().salt());
  }

  /** The same, where a request is served by one instance and asked for once. */
  public static ContentNames servedOnce(Request request, int blockTokens) {
    var content = request.content();
    int shareable = content.endsAlone() ? content.namedTokens() / blockTokens : Integer.MAX_VALUE;
    return new ContentNames(content, blockTokens, request.caller().salt(), shareable);
  }

  @Override
  public int shareable() {
    return shareable;
  }

  @Override
  public boolean isUnused() {
    return shareable == 0 && names == null;
  }

  @Override
  public BlockHash name(int index) {
    var walk = names();
    while (known.size() <= index) known.add(walk.next());
    return known.get(index);
  }

  private Names names() {
    var walk = names;
    if (walk != null) return walk;
    walk = content.names(blockTokens, salt);
    names = walk;
    known = new ArrayList<>();
    return walk;
  }

  /** The names of the first blocks. */
  public List<BlockHash> first(int blocks) {
    if (blocks > 0) name(blocks - 1);
    return known.subList(0, blocks);
  }

  @Override
  public TokenBlock block(int index) {
    var hash = name(index);
    return TokenBlock.named(hash, index == 0 ? null : known.get(index - 1), index);
  }
}
