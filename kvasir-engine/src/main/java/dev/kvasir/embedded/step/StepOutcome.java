package dev.kvasir.embedded.step;

import dev.kvasir.model.sample.TokenChoice;
import java.util.List;
import java.util.Optional;

/** Outcome of a step. */
sealed interface StepOutcome {
  /** For each turn, in the same order, the token that was chosen, where one was wanted. */
  record Chosen(List<Optional<TokenChoice>> choices) implements StepOutcome {
    public Chosen {
      choices = List.copyOf(choices);
    }
  }

  /** Nothing: the model failed. */
  record Broken(String reason) implements StepOutcome {}
}
