package dev.kvasir.live.engine.step;

import dev.kvasir.engine.ModelBackend;
import dev.kvasir.engine.Sequence;
import java.util.List;

/** What computes the steps of an engine, and brings each answer its tokens. */
public interface AnswerSteps extends ModelBackend {
  /** Computes for this answer from now on. */
  void add(Generation generation);

  void remove(Sequence sequence);

  /** How many answers are in the making. */
  int size();

  /** All answers in the making, in no order. */
  List<Generation> all();
}
