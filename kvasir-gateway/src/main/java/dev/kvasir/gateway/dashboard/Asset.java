package dev.kvasir.gateway.dashboard;

import dev.kvasir.kv.name.Sha256;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Exchange;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HexFormat;

/**
 * A file of the page; it holds nothing of anybody's requests.
 *
 * @param tag changes with the content, so that a browser fetches it once
 */
record Asset(String path, String contentType, Buffer content, String tag) {
  /** Forbids whatever the page does not need. */
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
          + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  static Asset of(String path, String contentType, String resource) {
    try (var stream = Asset.class.getResourceAsStream(resource)) {
      if (stream == null) throw new IllegalStateException("no resource " + resource);
      var bytes = stream.readAllBytes();
      return new Asset(path, contentType, Buffer.buffer(bytes), tag(bytes));
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  private static String tag(byte[] bytes) {
    return '"' + HexFormat.of().formatHex(Sha256.of(bytes), 0, 12) + '"';
  }

  Endpoint endpoint() {
    return Endpoint.get(path, Access.PUBLIC, this::answer);
  }

  private void answer(Exchange exchange) {
    exchange
        .response()
        .putHeader(HttpHeaders.ETAG, tag)
        .putHeader(HttpHeaders.CACHE_CONTROL, "no-cache")
        .putHeader("content-security-policy", POLICY)
        .putHeader("x-content-type-options", "nosniff")
        .putHeader("referrer-policy", "no-referrer")
        .putHeader("cross-origin-opener-policy", "same-origin")
        .putHeader("cross-origin-resource-policy", "same-origin");
    if (tag.equals(exchange.header("if-none-match"))) {
      exchange.answer(304, contentType, Buffer.buffer());
    } else {
      exchange.answer(200, contentType, content);
    }
  }
}
