package dev.kvasir.sim.workload;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.List;

/** The blocks of a simulated request, each named when it is first asked for. */
public final class ContentNames implements BlockNames {
  private final Names names;
  private final int shareable;
  private final List<BlockHash> known = new ArrayList<>();

  public ContentNames(Names names) {
    this(names, Integer.MAX_VALUE);
  }

  private ContentNames(Names names, int shareable) {
    this.names = names;
    this.shareable = shareable;
  }

  /** The blocks of a request, which its tenant shares with nobody. */
  public static ContentNames of(Request request, int blockTokens) {
    return new ContentNames(request.content().names(blockTokens, request.caller().salt()));
  }

  /** The same, where a request is served by one instance and asked for once. */
  public static ContentNames servedOnce(Request request, int blockTokens) {
    var content = request.content();
    int shareable = content.endsAlone() ? content.namedTokens() / blockTokens : Integer.MAX_VALUE;
    return new ContentNames(content.names(blockTokens, request.caller().salt()), shareable);
  }

  @Override
  public int shareable() {
    return shareable;
  }

  @Override
  public BlockHash name(int index) {
    while (known.size() <= index) known.add(names.next());
    return known.get(index);
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
