package dev.kvasir.sim.workload;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.List;

/** The blocks of a simulated request, each named when it is first asked for. */
public final class ContentNames implements BlockNames {
  private final Names names;
  private final List<BlockHash> known = new ArrayList<>();

  public ContentNames(Names names) {
    this.names = names;
  }

  /** The blocks of a request, which its tenant shares with nobody. */
  public static ContentNames of(Request request, int blockTokens) {
    return new ContentNames(request.content().names(blockTokens, request.caller().salt()));
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
