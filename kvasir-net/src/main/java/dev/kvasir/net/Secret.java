package dev.kvasir.net;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;

/** A password or a key, which no log and no message shows. */
public final class Secret {
  /** Before the name of a variable, or of a file, in which the secret stands. */
  public static final String ENVIRONMENT = "env:";

  public static final String FILE = "file:";

  private static final int BYTES_MAX = 1 << 16;

  private final byte[] bytes;

  private Secret(byte[] bytes) {
    this.bytes = bytes;
  }

  public static Secret of(String text) {
    if (text.isEmpty()) throw new IllegalArgumentException("an empty secret");
    return new Secret(text.getBytes(UTF_8));
  }

  /** Returns whether a text says where a secret is, rather than being the secret. */
  public static boolean isReference(String text) {
    return text.startsWith(ENVIRONMENT) || text.startsWith(FILE);
  }

  /** Reads the secret from the file, without the line end. */
  public static Secret fromFile(Path file) throws IOException {
    if (Files.size(file) > BYTES_MAX) throw new IOException(file + " is too long for a secret");
    var text = Files.readString(file).strip();
    if (text.isEmpty()) throw new IOException(file + " is empty, expected a secret in it");
    return of(text);
  }

  /** Reads the secret from the environment variable. */
  public static Secret fromEnvironment(String variable) throws IOException {
    var text = System.getenv(variable);
    if (text == null || text.isEmpty()) {
      throw new IOException("there is no secret in the environment: set " + variable);
    }
    return of(text);
  }

  public int length() {
    return bytes.length;
  }

  public byte[] bytes() {
    return bytes.clone();
  }

  /** The secret in the clear, to hand it to a library that wants it so. */
  public String reveal() {
    return new String(bytes, UTF_8);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Secret secret && MessageDigest.isEqual(bytes, secret.bytes);
  }

  @Override
  public int hashCode() {
    return bytes.length;
  }

  @Override
  public String toString() {
    return "secret";
  }
}
