package dev.kvasir.tiers.shared;

import static java.nio.charset.StandardCharsets.UTF_8;
import static javax.crypto.Cipher.DECRYPT_MODE;
import static javax.crypto.Cipher.ENCRYPT_MODE;

import dev.kvasir.kv.name.Sha256;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.tiers.host.BlockHeader;
import dev.kvasir.tiers.host.DiskFormat;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.shared.SealSettings.Protection;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.function.Function;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Wraps blocks for a shared tier, and tells of what comes back whether it is the block.
 *
 * <pre>
 *   CHECKSUM                 page | bytes
 *   SIGNED                   page | bytes | HMAC-SHA-256 of both
 *   ENCRYPTED   12 of chance | AES-256-GCM of (page | bytes) | its tag
 * </pre>
 *
 * <p>The keys are derived from secret, tenant and name of the block, so no two blocks share one,
 * and so no two tenants.
 */
public final class BlockSeals {
  /** Room for the fixed fields and 99 tokens. */
  static final int PAGE_BYTES = 512;

  private static final String HMAC = "HmacSHA256";
  private static final int HMAC_BYTES = 32;
  private static final int CHANCE_BYTES = 12;
  private static final int TAG_BYTES = 16;

  /** Result of opening a sealed block. */
  sealed interface Opened {
    /** The block: its bytes, and what it holds, with its tokens if any came along. */
    record Good(ByteBuffer bytes, TokenBlock content) implements Opened {}

    /** Not the block. */
    record Bad(String fault) implements Opened {}
  }

  private final DiskFormat format;
  private final SealSettings settings;
  private final Function<TokenBlock, String> tenants;
  private final SecureRandom chance = new SecureRandom();
  private final String namespace;

  /**
   * Seals for blocks of that size and layout.
   *
   * @param tenants whose a block is; called from any thread, and not needed for checksums
   */
  public BlockSeals(
      int blockBytes, long layout, SealSettings settings, Function<TokenBlock, String> tenants) {
    this.format = new DiskFormat(blockBytes, layout);
    this.settings = settings;
    this.tenants = tenants;
    this.namespace = name();
  }

  /** Seals of one tenant. */
  public static BlockSeals of(int blockBytes, long layout, SealSettings settings) {
    return new BlockSeals(blockBytes, layout, settings, _ -> "");
  }

  /**
   * Returns the namespace of such blocks on a server; blocks with other settings have another one.
   */
  public String namespace() {
    return namespace;
  }

  public int blockBytes() {
    return format.blockBytes();
  }

  /** Returns how many bytes a sealed block has. */
  public int sealedBytes() {
    int plain = PAGE_BYTES + format.blockBytes();
    return switch (settings.protection()) {
      case CHECKSUM -> plain;
      case SIGNED -> plain + HMAC_BYTES;
      case ENCRYPTED -> CHANCE_BYTES + plain + TAG_BYTES;
    };
  }

  /** The block as it may leave; its bytes stay where they are, unless they are encrypted. */
  SealedBlock seal(TokenBlock block, HostMemory above, int slot) {
    var page = ByteBuffer.allocate(PAGE_BYTES);
    var bytes = above.slot(slot).asByteBuffer();
    new BlockHeader(format, 0, 0, block).seal(page, bytes);
    page.clear();
    try {
      return switch (settings.protection()) {
        case CHECKSUM -> SealedBlock.of(page, bytes);
        case SIGNED -> SealedBlock.of(page, bytes, ByteBuffer.wrap(sign(block, page, bytes)));
        case ENCRYPTED -> SealedBlock.of(encrypt(block, page, bytes));
      };
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK cannot seal blocks", e);
    }
  }

  /** Checks whether these bytes, which may come from anyone, are the block. */
  Opened open(TokenBlock block, ByteBuffer sealed) {
    if (sealed.remaining() != sealedBytes()) {
      return new Opened.Bad(sealed.remaining() + " bytes, expected " + sealedBytes());
    }
    int plainBytes = PAGE_BYTES + format.blockBytes();
    try {
      var plain =
          switch (settings.protection()) {
            case CHECKSUM, SIGNED -> sealed.slice(sealed.position(), plainBytes);
            case ENCRYPTED -> decrypt(block, sealed);
          };
      var page = plain.slice(0, PAGE_BYTES);
      var bytes = plain.slice(PAGE_BYTES, format.blockBytes());
      if (settings.protection() == Protection.SIGNED) {
        var found = new byte[HMAC_BYTES];
        sealed.get(sealed.position() + plainBytes, found);
        boolean right = MessageDigest.isEqual(sign(block, page, bytes), found);
        if (!right) return new Opened.Bad("the signature is wrong");
      }
      return open(block, page, bytes);
    } catch (GeneralSecurityException e) {
      return new Opened.Bad("it cannot be decrypted: " + e.getMessage());
    }
  }

  private Opened open(TokenBlock block, ByteBuffer page, ByteBuffer bytes) {
    var fault = new BlockHeader(format, 0, 0, block).fault(page, bytes);
    if (fault != null) return new Opened.Bad(fault);
    int[] tokens = BlockHeader.tokens(page);
    boolean more = block.length() == 0 && tokens.length > 0;
    return new Opened.Good(bytes, more ? block.withTokens(tokens) : block);
  }

  private byte[] sign(TokenBlock block, ByteBuffer page, ByteBuffer bytes)
      throws GeneralSecurityException {
    var mac = mac(key(block));
    mac.update(namespace.getBytes(UTF_8));
    mac.update(page.duplicate());
    mac.update(bytes.duplicate());
    return mac.doFinal();
  }

  private ByteBuffer encrypt(TokenBlock block, ByteBuffer page, ByteBuffer bytes)
      throws GeneralSecurityException {
    var start = new byte[CHANCE_BYTES];
    chance.nextBytes(start);
    var sealed = ByteBuffer.allocate(sealedBytes()).put(start);
    var cipher = cipher(ENCRYPT_MODE, block, start);
    var _ = cipher.update(page.duplicate(), sealed);
    var _ = cipher.doFinal(bytes.duplicate(), sealed);
    return sealed.clear();
  }

  private ByteBuffer decrypt(TokenBlock block, ByteBuffer sealed) throws GeneralSecurityException {
    var from = sealed.duplicate();
    var start = new byte[CHANCE_BYTES];
    from.get(start);
    var plain = ByteBuffer.allocate(PAGE_BYTES + format.blockBytes());
    var _ = cipher(DECRYPT_MODE, block, start).doFinal(from, plain);
    return plain.clear();
  }

  private Cipher cipher(int mode, TokenBlock block, byte[] start) throws GeneralSecurityException {
    var cipher = Cipher.getInstance("AES/GCM/NoPadding");
    var parameters = new GCMParameterSpec(TAG_BYTES * Byte.SIZE, start);
    cipher.init(mode, new SecretKeySpec(key(block), "AES"), parameters);
    cipher.updateAAD(namespace.getBytes(UTF_8));
    return cipher;
  }

  private byte[] key(TokenBlock block) throws GeneralSecurityException {
    var ofTenant = mac(settings.required().bytes());
    ofTenant.update(("kvasir tenant " + settings.protection() + " ").getBytes(UTF_8));
    return mac(ofTenant.doFinal(tenants.apply(block).getBytes(UTF_8)))
        .doFinal(block.hash().bytes());
  }

  private static Mac mac(byte[] key) throws GeneralSecurityException {
    var mac = Mac.getInstance(HMAC);
    mac.init(new SecretKeySpec(key, HMAC));
    return mac;
  }

  private String name() {
    var text =
        "kvasir %d %d %x %s "
            .formatted(
                DiskFormat.VERSION, format.blockBytes(), format.layout(), settings.protection());
    try {
      var digest = Sha256.digest();
      digest.update(text.getBytes(UTF_8));
      if (settings.protection() != Protection.CHECKSUM) {
        digest.update(mac(settings.required().bytes()).doFinal("kvasir name".getBytes(UTF_8)));
      }
      return HexFormat.of().formatHex(digest.digest(), 0, Long.BYTES);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK cannot name what it seals", e);
    }
  }
}
