package dev.kvasir.embedded.step;

import dev.kvasir.embedded.step.StepOutcome.Chosen;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.ModelBackend;
import dev.kvasir.model.sample.TokenChoice;
import dev.kvasir.text.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * Steps that compute nothing and take the time of a model that would.
 *
 * <p>The tokens are made up: the same for the same seed and place, so that an answer can be told
 * from another and asked for again; at temperature 0 whatever the seed, as of any model.
 */
public final class PacedSteps implements StepRunner {
  /** An answer that may end itself does so after about so many tokens. */
  private static final int ANSWER_TOKENS_MEAN = 128;

  private final ModelBackend pace;
  private final Tokenizer tokenizer;

  public PacedSteps(ModelBackend pace, Tokenizer tokenizer) {
    this.pace = pace;
    this.tokenizer = tokenizer;
  }

  @Override
  public void run(Batch batch, List<AnswerStep> turns, Consumer<StepOutcome> done) {
    pace.forward(batch, _ -> done.accept(new Chosen(choices(turns))));
  }

  private List<Optional<TokenChoice>> choices(List<AnswerStep> turns) {
    var choices = new ArrayList<Optional<TokenChoice>>(turns.size());
    for (var turn : turns) {
      choices.add(turn.row().sampled() ? Optional.of(choice(turn)) : Optional.empty());
    }
    return choices;
  }

  private TokenChoice choice(AnswerStep turn) {
    var generation = turn.generation();
    var request = generation.request();
    boolean isGreedy = request.sampling().temperature() == 0;
    long chance = isGreedy ? request.prompt().length : request.sampling().seed();
    long seed = 31 * chance + generation.length();
    var random = new SplittableRandom(seed);
    boolean mayEnd = generation.usage().answerTokens() + 1 >= request.tokensMin();
    if (mayEnd && random.nextInt(ANSWER_TOKENS_MEAN) == 0) {
      return new TokenChoice(tokenizer.endOfTurn(), 0, List.of());
    }
    return new TokenChoice(word(random), 0, List.of());
  }

  /** Some token that has a text. */
  private int word(SplittableRandom random) {
    while (true) {
      int token = random.nextInt(tokenizer.size());
      if (!tokenizer.isSpecial(token) && isPlain(tokenizer.bytes(token))) return token;
    }
  }

  private static boolean isPlain(byte[] bytes) {
    if (bytes.length < 2) return false;
    for (byte each : bytes) if (each < ' ' || each == '"' || each == '\\') return false;
    return true;
  }
}
