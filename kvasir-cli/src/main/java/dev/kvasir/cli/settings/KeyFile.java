package dev.kvasir.cli.settings;

import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.router.limit.KeyLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the keys of callers: one per line, with tenant, SHA-256 and optional limits.
 *
 * <pre>
 *   # tenant  the 64 digits that sha256sum prints for the key
 *   ada       ca978112ca1b…
 *   bob       3e23e8160039… admin
 *   eve       2e7d2c03a950… per-minute=60 tokens-per-minute=100000 at-once=4
 * </pre>
 */
public final class KeyFile {
  private static final int FIELDS_MIN = 2;

  private KeyFile() {}

  public static ApiKeys read(Path file) throws IOException {
    var keys = new ArrayList<ApiKey>();
    var lines = Files.readAllLines(file);
    for (int i = 0; i < lines.size(); i++) {
      var line = lines.get(i).strip();
      if (line.isEmpty() || line.startsWith("#")) continue;
      try {
        keys.add(key(List.of(line.split("\\s+", -1))));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(file + ", line " + (i + 1) + ": " + e.getMessage(), e);
      }
    }
    if (keys.isEmpty()) throw new IllegalArgumentException(file + " has no keys");
    return new ApiKeys(keys);
  }

  private static ApiKey key(List<String> fields) {
    if (fields.size() < FIELDS_MIN) {
      throw new IllegalArgumentException("expected a tenant and the SHA-256 of its key");
    }
    var scope = ApiKey.Scope.USER;
    int perMinute = KeyLimits.UNLIMITED.requestsPerMinute();
    int tokens = KeyLimits.UNLIMITED.tokensPerMinute();
    int atOnce = KeyLimits.UNLIMITED.concurrentMax();
    for (var field : fields.subList(FIELDS_MIN, fields.size())) {
      if (field.equals("admin")) scope = ApiKey.Scope.ADMIN;
      else if (field.startsWith("per-minute=")) perMinute = number(field);
      else if (field.startsWith("tokens-per-minute=")) tokens = number(field);
      else if (field.startsWith("at-once=")) atOnce = number(field);
      else throw unknown(field);
    }
    return new ApiKey(
        fields.get(0), fields.get(1), scope, new KeyLimits(perMinute, tokens, atOnce));
  }

  private static IllegalArgumentException unknown(String field) {
    return new IllegalArgumentException(
        "\"%s\" is unknown; use admin, per-minute=N, tokens-per-minute=N or at-once=N"
            .formatted(field));
  }

  private static int number(String field) {
    try {
      return Integer.parseInt(field.substring(field.indexOf('=') + 1));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("\"" + field + "\" has no number", e);
    }
  }
}
