package dev.kvasir.live.engine;

import dev.kvasir.live.model.text.ChatTemplate;
import dev.kvasir.live.model.text.Tokenizer;
import java.util.Optional;

/**
 * A model as those see it who talk to it.
 *
 * @param name what requests call it
 * @param fingerprint names everything that shapes keys and values
 * @param contextTokens how many tokens a conversation may have
 * @param temperature what counts where a request says nothing
 * @param chat how conversations become tokens; empty for a model that was not made for them
 * @param chatRefusal why there is no {@code chat}; empty where there is
 */
public record ServedModel(
    String name,
    String fingerprint,
    int contextTokens,
    double temperature,
    Tokenizer tokenizer,
    Optional<ChatTemplate> chat,
    String chatRefusal) {
  public ServedModel named(String other) {
    return new ServedModel(
        other, fingerprint, contextTokens, temperature, tokenizer, chat, chatRefusal);
  }

  /** The same for longer conversations, or shorter ones. */
  public ServedModel withContext(int tokens) {
    return new ServedModel(name, fingerprint, tokens, temperature, tokenizer, chat, chatRefusal);
  }
}
