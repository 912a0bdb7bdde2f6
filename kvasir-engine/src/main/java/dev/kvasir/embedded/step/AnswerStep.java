package dev.kvasir.embedded.step;

import dev.kvasir.model.StepRow;

/** Part of a step that is computed for one answer. */
record AnswerStep(Generation generation, StepRow row) {}
