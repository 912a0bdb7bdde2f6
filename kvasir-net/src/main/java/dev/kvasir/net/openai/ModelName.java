package dev.kvasir.net.openai;

import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import dev.kvasir.net.server.Endpoint;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/** The name of a model in a path. */
public final class ModelName {
  private static final String FOLDER = "/v1/models";

  /** The paths of single models, whose names may have slashes. */
  public static final String PATHS = FOLDER + Endpoint.ANY;

  private static final int CHARS_MAX = 256;

  private ModelName() {}

  /** The name at the end of such a path, decoded. */
  public static String of(String path) {
    var written = path.substring(FOLDER.length() + 1);
    try {
      // Of a query a plus would be a blank; of a path it is a plus.
      var name = URLDecoder.decode(written.replace("+", "%2B"), StandardCharsets.UTF_8);
      if (name.length() <= CHARS_MAX) return name;
    } catch (IllegalArgumentException malformed) {
      throw new Refused(ApiError.badRequest("the name of the model is not URL-encoded correctly"));
    }
    throw new Refused(ApiError.badRequest("a model's name has up to " + CHARS_MAX + " characters"));
  }
}
