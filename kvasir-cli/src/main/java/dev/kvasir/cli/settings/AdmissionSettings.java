package dev.kvasir.cli.settings;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.Choices;
import dev.kvasir.router.limit.AdmissionPolicy;
import dev.kvasir.router.view.InstanceView;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * Settings of the policy that admits requests.
 *
 * @param policy always-admit, token-bucket, tier-shed, gaie-legacy or reject-all
 * @param bucketCapacity tokens that the bucket of token-bucket holds
 * @param bucketRate tokens a second that come into it
 * @param shedThreshold the requests of a worker above which tier-shed rejects
 * @param shedPriority the least priority that tier-shed then lets pass
 */
public record AdmissionSettings(
    String policy, double bucketCapacity, double bucketRate, int shedThreshold, int shedPriority) {
  private static final List<String> POLICIES =
      List.of("always-admit", "token-bucket", "tier-shed", "gaie-legacy", "reject-all");

  public static final AdmissionSettings DEFAULT =
      new AdmissionSettings("always-admit", 10_000, 1_000, 0, 3);

  public AdmissionSettings {
    Choices.require("policy", policy, POLICIES);
  }

  /** The policy; null where all requests are taken. */
  public @Nullable AdmissionPolicy policyIfAny() {
    return policyIfAny(InstanceView::requests);
  }

  /**
   * The policy; null where all requests are taken.
   *
   * @param load what an instance has to do, for tier-shed
   */
  public @Nullable AdmissionPolicy policyIfAny(ToIntFunction<InstanceView> load) {
    return switch (policy) {
      case "token-bucket" -> AdmissionPolicy.tokenBucket(bucketCapacity, bucketRate);
      case "tier-shed" -> AdmissionPolicy.tierShed(shedThreshold, shedPriority, load);
      case "gaie-legacy" -> AdmissionPolicy.gaieLegacy(5, 0.8);
      case "reject-all" -> AdmissionPolicy.rejectAll();
      default -> null;
    };
  }
}
