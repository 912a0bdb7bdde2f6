package dev.kvasir.net.server;

import dev.kvasir.net.Network;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.net.ServerSSLOptions;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.X509KeyManager;

/**
 * Puts the certificate that lies in files into force while servers listen: for new connections,
 * where it can be used.
 *
 * <p>A certificate and a key that do not belong together, as when only one of two files is written
 * yet, would make every handshake fail, and nothing but a handshake would tell.
 */
public final class TlsReload {
  private static final byte[] TEXT = "to be signed".getBytes(StandardCharsets.UTF_8);

  private TlsReload() {}

  /**
   * Throws {@link IllegalArgumentException} where the files cannot be used; then all stays as it
   * was.
   */
  public static void use(Network network, List<HttpServer> servers, HttpSettings.Tls tls) {
    try {
      requirePair(network.vertx(), tls);
      var options = new ServerSSLOptions().setKeyCertOptions(tls.files());
      for (var server : servers) Network.await(server.updateSSLOptions(options, true));
    } catch (Exception e) {
      throw new IllegalArgumentException(
          "the certificate %s with the key %s cannot be used: %s"
              .formatted(tls.certificateFile(), tls.keyFile(), e.getMessage()),
          e);
    }
  }

  private static void requirePair(Vertx vertx, HttpSettings.Tls tls) throws Exception {
    var managers = tls.files().getKeyManagerFactory(vertx).getKeyManagers();
    var manager =
        (X509KeyManager)
            Arrays.stream(managers)
                .filter(X509KeyManager.class::isInstance)
                .findFirst()
                .orElseThrow();
    for (var type : List.of("EC", "RSA", "EdDSA", "RSASSA-PSS")) {
      var aliases = manager.getServerAliases(type, null);
      if (aliases == null) continue;
      for (var alias : aliases) {
        requirePair(manager.getPrivateKey(alias), manager.getCertificateChain(alias)[0]);
      }
    }
  }

  private static void requirePair(PrivateKey key, X509Certificate certificate)
      throws GeneralSecurityException {
    var algorithm =
        switch (key.getAlgorithm()) {
          case "EC" -> "SHA256withECDSA";
          case "RSA" -> "SHA256withRSA";
          default -> key.getAlgorithm();
        };
    var signature = Signature.getInstance(algorithm);
    signature.initSign(key);
    signature.update(TEXT);
    var signed = signature.sign();
    signature.initVerify(certificate.getPublicKey());
    signature.update(TEXT);
    if (!signature.verify(signed)) {
      throw new GeneralSecurityException("the key is not that of the certificate");
    }
  }
}
