package dev.kvasir.embedded.api;

import dev.kvasir.text.ChatMessage;
import java.util.List;

/** Prompt that a request asks the model to go on from. */
public sealed interface Prompt {
  /** A conversation, which the model answers. */
  record Chat(List<ChatMessage> messages) implements Prompt {
    public Chat {
      messages = List.copyOf(messages);
    }
  }

  /** A text, which the model continues. */
  record Text(String text) implements Prompt {}

  /** Tokens, which the model continues. */
  record Tokens(List<Integer> tokens) implements Prompt {
    public Tokens {
      tokens = List.copyOf(tokens);
    }
  }
}
