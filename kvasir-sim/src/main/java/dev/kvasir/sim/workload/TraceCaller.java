package dev.kvasir.sim.workload;

/**
 * Sender of a request, and the model it is for; each may be empty.
 *
 * @param tenant tenants share no blocks
 * @param sloClass what the caller may expect
 * @param model the model that is to answer; empty for any
 */
public record TraceCaller(String tenant, String sloClass, String model) {
  public static final TraceCaller ANYBODY = new TraceCaller("", "");

  /** A caller who takes any model. */
  public TraceCaller(String tenant, String sloClass) {
    this(tenant, sloClass, "");
  }

  /** Anybody who asks for that model; empty for any. */
  public static TraceCaller ofModel(String model) {
    return model.isEmpty() ? ANYBODY : new TraceCaller("", "", model);
  }

  /**
   * Returns a number that keeps the blocks of the tenant apart from those of others; 0 for no
   * tenant.
   */
  public long salt() {
    return tenant.isEmpty() ? 0 : Mix.of(tenant);
  }
}
