package dev.kvasir.tiers.shared;

import dev.kvasir.Nullable;
import dev.kvasir.net.Secret;

/**
 * Protection of the blocks on a shared tier from those who can write there.
 *
 * @param protection against what
 * @param secret what the keys are derived from; null for checksums
 */
public record SealSettings(Protection protection, @Nullable Secret secret) {
  private static final int SECRET_BYTES_MIN = 32;

  /** Against what a block is protected. */
  public enum Protection {
    /** Accidents: CRC32C. */
    CHECKSUM,
    /** Those who can write there: also HMAC-SHA-256. */
    SIGNED,
    /** Those who can read there too: AES-256-GCM. */
    ENCRYPTED
  }

  public static final SealSettings CHECKSUM = new SealSettings(Protection.CHECKSUM, null);

  public SealSettings {
    if ((protection == Protection.CHECKSUM) != (secret == null)) {
      throw new IllegalArgumentException(
          protection + (secret == null ? " needs a secret" : " takes no secret"));
    }
    if (secret != null && secret.length() < SECRET_BYTES_MIN) {
      throw new IllegalArgumentException(
          "a secret of "
              + secret.length()
              + " bytes, expected "
              + SECRET_BYTES_MIN
              + " or more: openssl rand -hex 32 makes one");
    }
  }

  /** The secret, where there must be one. */
  Secret required() {
    if (secret == null) throw new IllegalStateException(protection + " without a secret");
    return secret;
  }
}
