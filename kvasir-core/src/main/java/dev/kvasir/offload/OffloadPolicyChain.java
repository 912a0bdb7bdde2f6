package dev.kvasir.offload;

import java.util.List;
import java.util.function.Consumer;

/** Asks policies in turn until one answers in the deciding way; else the last answer counts. */
final class OffloadPolicyChain implements OffloadPolicy {
  private final List<OffloadPolicy> policies;
  private final Class<? extends Verdict> deciding;

  OffloadPolicyChain(List<OffloadPolicy> policies, Class<? extends Verdict> deciding) {
    this.policies = List.copyOf(policies);
    this.deciding = deciding;
  }

  @Override
  public void judge(Candidate candidate, Consumer<Verdict> answer) {
    ask(0, candidate, answer);
  }

  private void ask(int at, Candidate candidate, Consumer<Verdict> answer) {
    policies
        .get(at)
        .judge(
            candidate,
            verdict -> {
              if (deciding.isInstance(verdict) || at + 1 == policies.size()) {
                answer.accept(verdict);
              } else {
                ask(at + 1, candidate, answer);
              }
            });
  }
}
