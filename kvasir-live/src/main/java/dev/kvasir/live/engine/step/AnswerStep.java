package dev.kvasir.live.engine.step;

import dev.kvasir.live.model.StepRow;

/** What a step computes for one answer. */
record AnswerStep(Generation generation, StepRow row) {}
