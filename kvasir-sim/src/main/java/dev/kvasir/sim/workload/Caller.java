package dev.kvasir.sim.workload;

/**
 * On whose behalf a request comes; either may be empty.
 *
 * @param tenant tenants share no blocks
 * @param sloClass what the caller may expect
 */
public record Caller(String tenant, String sloClass) {
  public static final Caller ANYBODY = new Caller("", "");

  /** What keeps the blocks of the tenant apart from those of others; 0 for no tenant. */
  public long salt() {
    return tenant.isEmpty() ? 0 : Mix.of(tenant);
  }
}
