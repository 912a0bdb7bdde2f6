package dev.kvasir.text;

import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The input of a {@link Tokenizer}, independent of the file format.
 *
 * @param split how texts are cut before pairs are merged, such as {@code gpt-2} or {@code qwen2}
 * @param tokens the text of each token, by its number; bytes as letters, as GPT-2 has them
 * @param special the tokens that no text becomes
 * @param merges pairs of tokens with a space between, in the order they were learned
 * @param endOfTurn the token after which the model has nothing more to say
 * @param beginning the token that every sequence begins with, where the model wants one
 */
public record Vocabulary(
    String split,
    List<String> tokens,
    Set<Integer> special,
    List<String> merges,
    int endOfTurn,
    OptionalInt beginning) {
  public Vocabulary {
    tokens = List.copyOf(tokens);
    special = Set.copyOf(special);
    merges = List.copyOf(merges);
  }
}
