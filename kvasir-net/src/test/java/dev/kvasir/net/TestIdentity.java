package dev.kvasir.net;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/** A certificate for this machine that nobody has signed but itself, and its key. */
public record TestIdentity(Path certificate, Path key, Path trust, Secret password) {
  private static final String PASSWORD = "of-no-value";
  private static final String NAME = "server";

  public static TestIdentity make(Path folder)
      throws IOException, InterruptedException, GeneralSecurityException {
    var store = folder.resolve("identity.p12");
    generate(store);
    var secret = Secret.of(PASSWORD);
    var keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
    var certificate = folder.resolve("certificate.pem");
    var key = folder.resolve("key.pem");
    Files.writeString(certificate, pem("CERTIFICATE", keys.getCertificate(NAME).getEncoded()));
    Files.writeString(
        key, pem("PRIVATE KEY", keys.getKey(NAME, PASSWORD.toCharArray()).getEncoded()));
    var trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry(NAME, keys.getCertificate(NAME));
    var trust = folder.resolve("trust.p12");
    try (var out = Files.newOutputStream(trust)) {
      trusted.store(out, PASSWORD.toCharArray());
    }
    return new TestIdentity(certificate, key, trust, secret);
  }

  /** For a client that trusts this certificate and no other. */
  public X509TrustManager trusting() throws IOException, GeneralSecurityException {
    var store = KeyStore.getInstance(trust.toFile(), password.reveal().toCharArray());
    var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return (X509TrustManager) factory.getTrustManagers()[0];
  }

  private static void generate(Path store) throws IOException, InterruptedException {
    var keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    int status =
        new ProcessBuilder(
                keytool,
                "-genkeypair",
                "-alias",
                NAME,
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=dns:localhost,ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD)
            .inheritIO()
            .start()
            .waitFor();
    if (status != 0) throw new IOException("keytool ended with " + status);
  }

  private static String pem(String what, byte[] bytes) {
    var text = Base64.getMimeEncoder(64, "\n".getBytes(US_ASCII)).encodeToString(bytes);
    return "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n";
  }
}
