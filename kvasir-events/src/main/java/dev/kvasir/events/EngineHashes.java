package dev.kvasir.events;

import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;

/** Names of 64 bits in order, of 8 bytes each. */
final class EngineHashes extends AbstractList<EngineHash> implements RandomAccess {
  private final long[] words;

  private EngineHashes(long[] words) {
    this.words = words;
  }

  /** Keeps the array, which nobody may change any more. */
  static List<EngineHash> of(long[] words) {
    return new EngineHashes(words);
  }

  /** Returns the list itself where nobody can change it. */
  static List<EngineHash> copyOf(List<EngineHash> hashes) {
    return hashes instanceof EngineHashes ? hashes : List.copyOf(hashes);
  }

  @Override
  public EngineHash get(int index) {
    return new EngineHash.Word(words[index]);
  }

  @Override
  public int size() {
    return words.length;
  }
}
