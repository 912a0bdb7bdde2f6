package dev.kvasir.net.auth;

import dev.kvasir.router.limit.KeyLimits;

/**
 * Sender of a request, as far as the key tells.
 *
 * @param tenant empty where no keys are set
 * @param key which one, by the beginning of its hash; empty where no keys are set
 */
public record Caller(String tenant, String key, ApiKey.Scope scope, KeyLimits limits) {
  /** Everybody, where no keys are set. */
  public static final Caller ANYONE = new Caller("", "", ApiKey.Scope.ADMIN, KeyLimits.UNLIMITED);

  private static final int KEY_DIGITS = 16;

  static Caller of(ApiKey key) {
    return new Caller(
        key.tenant(), key.sha256().substring(0, KEY_DIGITS), key.scope(), key.limits());
  }
}
