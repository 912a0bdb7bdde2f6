package dev.kvasir.live.engine.step;

import dev.kvasir.model.StepRow;

/** What a step computes for one answer. */
record AnswerStep(Generation generation, StepRow row) {}
