package dev.kvasir.offload.pipeline;

import dev.kvasir.kv.name.BlockHash;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Decides whether a block is worth moving down a tier. */
@FunctionalInterface
public interface OffloadPolicy {
  /** A block that is less likely to return is not worth the copy. */
  double CHANCE_MIN = 0.02;

  /** Answers once, at once or later, on the loop of the pipeline. */
  void judge(Candidate candidate, Consumer<Verdict> answer);

  /**
   * Facts that a policy knows about a block.
   *
   * @param present true if it is on the tier below already
   * @param pending true if it is on its way there
   * @param uses the number of its recent uses, or {@link #UNCOUNTED}
   */
  record Candidate(BlockHash hash, boolean present, boolean pending, int uses) {
    public static final int UNCOUNTED = -1;

    /** The same block when the step that computes it has landed, which counts as a use. */
    Candidate landed() {
      return uses == UNCOUNTED ? this : new Candidate(hash, present, pending, uses + 1);
    }
  }

  /** The answer, with its reason. */
  sealed interface Verdict {
    record Pass() implements Verdict {}

    record Filter(String reason) implements Verdict {}

    Verdict PASS = new Pass();
  }

  /** Everything passes. */
  static OffloadPolicy passAll() {
    return of(candidate -> Verdict.PASS);
  }

  /** Filters blocks that are below already, or on their way there. */
  static OffloadPolicy presence() {
    return of(
        candidate ->
            candidate.present()
                ? new Verdict.Filter("already below")
                : candidate.pending() ? new Verdict.Filter("already on its way") : Verdict.PASS);
  }

  /** Passes blocks that were used more often than that; passes all if uses are not counted. */
  static OffloadPolicy frequency(int usesMin) {
    if (usesMin < 0) throw new IllegalArgumentException("uses " + usesMin + ", expected 0 or more");
    return of(
        candidate ->
            candidate.uses() == Candidate.UNCOUNTED || candidate.uses() > usesMin
                ? Verdict.PASS
                : new Verdict.Filter("used " + candidate.uses() + " times, not over " + usesMin));
  }

  /**
   * Passes when fetching blocks back is quicker than computing them again, if enough of them are
   * wanted at once. That number is not known yet, so the latency, which they share, is left to the
   * side that loads.
   */
  static OffloadPolicy cost(ReuseCost cost) {
    return of(
        candidate ->
            cost.paysOff()
                ? Verdict.PASS
                : new Verdict.Filter(
                    "load "
                        + cost.loadPerBlock()
                        + " a block, recompute "
                        + cost.recomputePerBlock()));
  }

  /**
   * Filters blocks that are unlikely to be used again, or cheaper to compute again in these cases;
   * a block of unknown chance passes.
   *
   * @param chance how likely a block is asked for again; NaN where nothing says so
   */
  static OffloadPolicy returning(ToDoubleFunction<BlockHash> chance, ReuseCost cost) {
    return of(
        candidate -> {
          double likely = chance.applyAsDouble(candidate.hash());
          boolean isWorthIt =
              likely >= CHANCE_MIN
                  && likely * cost.recomputePerBlock().toNanos() >= cost.loadPerBlock().toNanos();
          return Double.isNaN(likely) || isWorthIt
              ? Verdict.PASS
              : new Verdict.Filter("returns with a chance of " + likely);
        });
  }

  /** Passes what all pass; the first that filters says why. */
  static OffloadPolicy allOf(List<OffloadPolicy> policies) {
    return policies.isEmpty() ? passAll() : new Chain(policies);
  }

  /** A policy that answers at once. */
  static OffloadPolicy of(Function<Candidate, Verdict> rule) {
    return (candidate, answer) -> answer.accept(rule.apply(candidate));
  }

  /** Asks policies in turn until one filters; else the last answer counts. */
  static final class Chain implements OffloadPolicy {
    private final List<OffloadPolicy> policies;

    Chain(List<OffloadPolicy> policies) {
      this.policies = List.copyOf(policies);
    }

    @Override
    public void judge(Candidate candidate, Consumer<Verdict> answer) {
      evaluate(0, candidate, answer);
    }

    private void evaluate(int at, Candidate candidate, Consumer<Verdict> answer) {
      policies
          .get(at)
          .judge(
              candidate,
              verdict -> {
                if (verdict instanceof Verdict.Filter || at + 1 == policies.size()) {
                  answer.accept(verdict);
                } else {
                  evaluate(at + 1, candidate, answer);
                }
              });
    }
  }
}
