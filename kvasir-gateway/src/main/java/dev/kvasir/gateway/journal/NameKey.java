package dev.kvasir.gateway.journal;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Bytes that nobody else knows, to make names that nobody else can. */
public final class NameKey {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int BYTES = 32;

  private final byte[] bytes;

  private NameKey(byte[] bytes) {
    this.bytes = bytes;
  }

  public static NameKey random() {
    var bytes = new byte[BYTES];
    new SecureRandom().nextBytes(bytes);
    return new NameKey(bytes);
  }

  /** The secret of a text that is to be the same each time; it should be long and random. */
  public static NameKey of(String text) {
    if (text.isEmpty()) throw new IllegalArgumentException("an empty secret");
    return new NameKey(text.getBytes(StandardCharsets.UTF_8));
  }

  /** A seal of the message, of 32 bytes, which only who knows the secret can make. */
  public byte[] seal(byte[] message) {
    return sign(message);
  }

  byte[] sign(byte[] message) {
    try {
      var mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(bytes, ALGORITHM));
      return mac.doFinal(message);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has " + ALGORITHM, e);
    }
  }

  /** Returns the salt of a tenant's blocks; what the caller asked for is part of it. */
  public String salt(String tenant, String requested) {
    var message = (tenant.length() + ":" + tenant + requested).getBytes(StandardCharsets.UTF_8);
    return HexFormat.of().formatHex(sign(message));
  }
}
