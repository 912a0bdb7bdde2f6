package dev.kvasir.cli.simulate;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.EngineSettings.Victim;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.engine.SchedulingPolicy;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** How the simulated engines form their batches. */
@Command(optionListHeading = "%nEngine:%n")
final class EngineOptions {
  @Option(
      names = {"--max-num-seqs", "--max-num-running-reqs"},
      paramLabel = "N",
      description = "Most requests in a batch. Usually ${DEFAULT-VALUE}.")
  private int sequencesMax = EngineSettings.DEFAULT.sequencesMax();

  @Option(
      names = {"--max-num-batched-tokens", "--max-num-scheduled-tokens"},
      paramLabel = "N",
      description = "Most tokens in a step. Usually ${DEFAULT-VALUE}.")
  private int stepTokensMax = EngineSettings.DEFAULT.stepTokensMax();

  @Option(
      names = "--long-prefill-token-threshold",
      paramLabel = "N",
      description = "Most tokens of one prompt in a step; 0 for no limit of its own.")
  private int chunkTokensMax;

  @Option(
      names = "--max-model-len",
      paramLabel = "N",
      description = "Longest request, output included; 0 for no limit.")
  private int contextTokensMax;

  @Option(
      names = "--scheduler",
      paramLabel = "NAME",
      description = "fcfs, priority-fcfs, sjf or reverse-priority. Usually ${DEFAULT-VALUE}.")
  private String scheduler = "fcfs";

  @Option(
      names = "--preemption-policy",
      paramLabel = "NAME",
      description = "Who makes room: fcfs, the newest; priority, the least urgent.")
  private String preemption = "fcfs";

  @Option(
      names = "--planning",
      paramLabel = "MODE",
      description =
          "When a step is planned: sequential, after the one before it; discard, beside it, and"
              + " again if anything happened; repair, beside it and put right. Usually"
              + " ${DEFAULT-VALUE}.")
  private String planning = "repair";

  @Option(
      names = "--planning-cost",
      paramLabel = "NS",
      description =
          "What planning takes for each look: at a sequence, or at one of its cached blocks"
              + " (default: 0).")
  private long planningNanos;

  EngineSettings settings(Set<EngineSettings.BatchQuirk> quirks, PolicyFile policy) {
    return new EngineSettings(
        sequencesMax,
        stepTokensMax,
        chunkTokensMax,
        contextTokensMax,
        order(policy.schedulerOr(scheduler)),
        victim(policy.preemptionOr(preemption)),
        quirks,
        new PlanningSettings(planning(), planningNanos));
  }

  private PlanningSettings.Mode planning() {
    return switch (planning) {
      case "sequential" -> PlanningSettings.Mode.SEQUENTIAL;
      case "discard" -> PlanningSettings.Mode.DISCARD;
      case "repair" -> PlanningSettings.Mode.REPAIR;
      default ->
          throw new IllegalArgumentException(
              "--planning " + planning + "; it is sequential, discard or repair");
    };
  }

  /** The longest request that was asked for, 0 where nothing was said. */
  int contextTokensMax() {
    return contextTokensMax;
  }

  private static SchedulingPolicy order(String scheduler) {
    return switch (scheduler) {
      case "fcfs" -> SchedulingPolicy.FIRST_COME;
      case "priority-fcfs", "priority" -> SchedulingPolicy.PRIORITY;
      case "sjf" -> SchedulingPolicy.SHORTEST_PROMPT;
      case "reverse-priority" -> SchedulingPolicy.REVERSE_PRIORITY;
      default ->
          throw new IllegalArgumentException(
              "--scheduler " + scheduler + "; it is fcfs, priority-fcfs, sjf or reverse-priority");
    };
  }

  private static Victim victim(String preemption) {
    return switch (preemption) {
      case "fcfs" -> Victim.NEWEST;
      case "priority" -> Victim.LEAST_URGENT;
      default ->
          throw new IllegalArgumentException(
              "--preemption-policy " + preemption + "; it is fcfs or priority");
    };
  }
}
