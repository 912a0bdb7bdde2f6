package dev.kvasir.tools.doctor;

import dev.kvasir.Nullable;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Asks a worker over HTTP; failures are returned as answers. */
final class WorkerHttp {
  static final JsonNode NOTHING = JsonMapper.shared().createObjectNode();
  private static final Duration TIME_MAX = Duration.ofSeconds(60);
  private static final int BYTES_MAX = 16 << 20;

  /**
   * Answer that came back.
   *
   * @param status 0 where nothing did
   */
  record Answer(int status, String text, long dateSkewSeconds) {
    JsonNode json() {
      try {
        return status == 200 ? JsonMapper.shared().readTree(text) : NOTHING;
      } catch (JacksonException e) {
        return NOTHING;
      }
    }
  }

  /** An offer to change to HTTP/2 makes the servers of Python lose the body of a request. */
  private final HttpClient client;

  private final String url;
  private final @Nullable String key;
  private final Duration patience;

  WorkerHttp(String url, @Nullable String key) {
    this(url, key, TIME_MAX);
  }

  WorkerHttp(String url, @Nullable String key, Duration patience) {
    this.patience = patience;
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(patience)
            .build();
    this.url = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    this.key = key;
  }

  ObjectNode object() {
    return JsonMapper.shared().createObjectNode();
  }

  Answer get(String path) {
    return send(path, "GET", HttpRequest.BodyPublishers.noBody());
  }

  Answer post(String path, ObjectNode body) {
    return send(path, "POST", HttpRequest.BodyPublishers.ofString(body.toString()));
  }

  private Answer send(String path, String method, HttpRequest.BodyPublisher body) {
    try {
      var request =
          HttpRequest.newBuilder(URI.create(url + path))
              .timeout(patience)
              .header("content-type", "application/json")
              .method(method, body);
      if (key != null) request.header("authorization", "Bearer " + key);
      var answer = client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
      try (InputStream in = answer.body()) {
        var text = new String(in.readNBytes(BYTES_MAX), StandardCharsets.UTF_8);
        return new Answer(answer.statusCode(), text, skew(answer));
      }
    } catch (IOException | IllegalArgumentException e) {
      return new Answer(0, "cannot be reached: " + reason(e), 0);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Answer(0, "interrupted", 0);
    }
  }

  /** Java tells neither of these in words. */
  private static String reason(Exception failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnresolvedAddressException) return "its name has no address";
    }
    return failure instanceof ConnectException ? "nothing listens there" : failure.toString();
  }

  private static long skew(HttpResponse<?> answer) {
    try {
      var date = answer.headers().firstValue("date").orElse("");
      var serverTime = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      return Duration.between(Instant.now(), serverTime).toSeconds();
    } catch (DateTimeParseException e) {
      return 0;
    }
  }
}
