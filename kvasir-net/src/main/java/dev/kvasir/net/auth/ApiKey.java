package dev.kvasir.net.auth;

import dev.kvasir.kv.name.Sha256;
import dev.kvasir.router.limit.KeyLimits;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * A key that a caller may have; only its hash is known here.
 *
 * @param tenant whose key it is; tenants share nothing
 * @param sha256 the SHA-256 of the key, as hexadecimal digits
 */
public record ApiKey(String tenant, String sha256, Scope scope, KeyLimits limits) {
  private static final int DIGITS = 64;

  /** Access that a key gives. */
  public enum Scope {
    USER,
    ADMIN
  }

  public ApiKey {
    if (tenant.isBlank()) throw new IllegalArgumentException("a key needs a tenant");
    if (sha256.length() != DIGITS || !sha256.chars().allMatch(HexFormat::isHexDigit)) {
      throw new IllegalArgumentException(
          "the key of " + tenant + " must be given as the 64 hexadecimal digits of its SHA-256");
    }
  }

  /** The entry for a key in the clear. */
  public static ApiKey of(String tenant, String key) {
    return new ApiKey(tenant, HexFormat.of().formatHex(hash(key)), Scope.USER, KeyLimits.UNLIMITED);
  }

  public ApiKey in(Scope other) {
    return new ApiKey(tenant, sha256, other, limits);
  }

  public ApiKey with(KeyLimits other) {
    return new ApiKey(tenant, sha256, scope, other);
  }

  /** Takes the same time whether the hash is right or wrong. */
  boolean matches(byte[] hash) {
    return MessageDigest.isEqual(HexFormat.of().parseHex(sha256), hash);
  }

  static byte[] hash(String key) {
    return Sha256.of(key.getBytes(StandardCharsets.UTF_8));
  }
}
