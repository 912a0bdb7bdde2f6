package dev.kvasir.router.limit;

/**
 * Sender of a request.
 *
 * @param tenant empty where there are no tenants
 * @param key the key it was sent with; empty where there are no keys
 */
public record FlowCaller(String tenant, String key, KeyLimits limits) {
  /** Everybody, where there are no keys. */
  public static final FlowCaller ANYONE = new FlowCaller("", "", KeyLimits.UNLIMITED);

  /** One tenant is one caller, however many keys it has. */
  public String identity() {
    return tenant.isEmpty() ? "key " + key : "tenant " + tenant;
  }
}
