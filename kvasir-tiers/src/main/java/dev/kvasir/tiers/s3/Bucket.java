package dev.kvasir.tiers.s3;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.kvasir.Nullable;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * The requests that are made of a bucket, each once.
 *
 * <p>The bytes are summed up by who seals them, so the SDK does not do it again.
 */
final class Bucket implements AutoCloseable {
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;
  private static final int PRECONDITION_FAILED = 412;
  private static final int RANGE_NOT_SATISFIABLE = 416;
  private static final int LIST_MAX = 1000;

  /** A small object as it was found, and how old it was by the clock of the server. */
  record Note(String text, String tag, Duration age) {}

  /** An object in a list. */
  record Listed(String name, long bytes, Instant written) {}

  private final LongAdder unreadable = new LongAdder();
  private final S3Client client;
  private final String bucket;

  Bucket(ObjectSettings settings) {
    var place = settings.place();
    var timeout = settings.limits().timeout();
    var builder =
        S3Client.builder()
            .region(Region.of(place.region()))
            .forcePathStyle(place.endpoint() != null)
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
            .serviceConfiguration(service -> service.chunkedEncodingEnabled(false))
            .overrideConfiguration(
                override ->
                    override.retryStrategy(AwsRetryStrategy.doNotRetry()).apiCallTimeout(timeout))
            .httpClientBuilder(
                Apache5HttpClient.builder()
                    .maxConnections(settings.requestsMax() + 2)
                    .expectContinueEnabled(false)
                    .connectionTimeout(timeout)
                    .socketTimeout(timeout));
    if (place.endpoint() != null) builder.endpointOverride(place.endpoint());
    this.client = builder.build();
    this.bucket = place.bucket();
  }

  /** Writes it if there is none of that name; returns its tag, or null if there is one. */
  @Nullable
  String create(String name, byte[] bytes) throws IOException {
    return changed(
        () ->
            client
                .putObject(
                    request -> request.bucket(bucket).key(name).ifNoneMatch("*"),
                    RequestBody.fromBytes(bytes))
                .eTag());
  }

  /** Writes it if the one there is still that of the tag; returns the new tag, or null if not. */
  @Nullable
  String replace(String name, String tag, byte[] bytes) throws IOException {
    return changed(
        () ->
            client
                .putObject(
                    request -> request.bucket(bucket).key(name).ifMatch(tag),
                    RequestBody.fromBytes(bytes))
                .eTag());
  }

  /** Writes it, whatever is there. */
  void write(String name, RequestBody body) throws IOException {
    var _ = call(() -> client.putObject(request -> request.bucket(bucket).key(name), body));
  }

  /** Reads all of it; null if there is none. */
  @Nullable
  Note read(String name) throws IOException {
    var got = found(() -> client.getObjectAsBytes(request -> request.bucket(bucket).key(name)));
    if (got == null) return null;
    var response = got.response();
    var age = Duration.between(response.lastModified(), now(response.sdkHttpResponse()));
    return new Note(got.asString(US_ASCII), response.eTag(), age);
  }

  /** Reads so many bytes, or as many as there are; null if there are none. */
  byte @Nullable [] read(String name, long from, int length) throws IOException {
    var range = "bytes=" + from + "-" + (from + length - 1);
    return found(
        () ->
            client.getObject(
                request -> request.bucket(bucket).key(name).range(range),
                (_, body) -> body(body, length)));
  }

  /** The SDK's own way grows an array step by step, and copies it at the end. */
  private static byte[] body(InputStream body, int length) throws IOException {
    var bytes = new byte[length];
    int read = body.readNBytes(bytes, 0, length);
    return read == length ? bytes : Arrays.copyOf(bytes, read);
  }

  /** Removes it if it is still that of the tag. */
  void remove(String name, String tag) throws IOException {
    var _ =
        changed(
            () -> {
              client.deleteObject(request -> request.bucket(bucket).key(name).ifMatch(tag));
              return "";
            });
  }

  void remove(String name) throws IOException {
    var _ = call(() -> client.deleteObject(request -> request.bucket(bucket).key(name)));
  }

  /** Removes all of them, by one request. */
  void removeAll(List<String> names) throws IOException {
    if (names.isEmpty()) return;
    var objects = names.stream().map(name -> ObjectIdentifier.builder().key(name).build()).toList();
    var answer =
        call(
            () ->
                client.deleteObjects(
                    request ->
                        request
                            .bucket(bucket)
                            .delete(delete -> delete.objects(objects).quiet(true))));
    if (answer.hasErrors() && !answer.errors().isEmpty()) {
      var first = answer.errors().getFirst();
      throw new IOException(
          answer.errors().size() + " objects could not be removed: " + first.message());
    }
  }

  /** Lists by name, at most so many. */
  List<Listed> list(String prefix, int objectsMax) throws IOException {
    var objects = new ArrayList<Listed>();
    @Nullable String next = null;
    do {
      var page = page(prefix, next, Math.min(LIST_MAX, objectsMax - objects.size()));
      objects.addAll(page.objects);
      next = page.next;
    } while (next != null && objects.size() < objectsMax);
    return objects;
  }

  /** The names below the prefix up to the next slash, of those that have one. */
  List<String> folders(String prefix) throws IOException {
    var folders = new ArrayList<String>();
    String next = null;
    do {
      var token = next;
      var page =
          call(
              () ->
                  client.listObjectsV2(
                      request ->
                          request
                              .bucket(bucket)
                              .prefix(prefix)
                              .delimiter("/")
                              .continuationToken(token)));
      for (var folder : page.commonPrefixes()) {
        var name = folder.prefix();
        folders.add(name.substring(prefix.length(), name.length() - 1));
      }
      boolean more = page.isTruncated() != null && page.isTruncated();
      next = more ? page.nextContinuationToken() : null;
    } while (next != null);
    return folders;
  }

  /** Returns how many objects were listed without name, size or date, and left out. */
  long unreadable() {
    return unreadable.sum();
  }

  /** Does something with some of the objects in a bucket. */
  interface Pages {
    void accept(List<Listed> page) throws IOException;
  }

  /**
   * Lists all by name, a page at a time, of which none is kept.
   *
   * @return when the list began, by the clock of the server
   */
  Instant each(String prefix, Pages pages) throws IOException {
    var page = page(prefix, null, LIST_MAX);
    var began = page.now;
    pages.accept(page.objects);
    while (page.next != null) {
      page = page(prefix, page.next, LIST_MAX);
      pages.accept(page.objects);
    }
    return began;
  }

  /** Some objects, what to ask for the next with, and when that was. */
  private record Page(List<Listed> objects, @Nullable String next, Instant now) {}

  private Page page(String prefix, @Nullable String token, int count) throws IOException {
    var page =
        call(
            () ->
                client.listObjectsV2(
                    request ->
                        request
                            .bucket(bucket)
                            .prefix(prefix)
                            .maxKeys(count)
                            .continuationToken(token)));
    var objects = new ArrayList<Listed>();
    for (var object : page.contents()) {
      if (object.key() == null || object.size() == null || object.lastModified() == null) {
        unreadable.increment();
        continue;
      }
      var name = object.key().substring(prefix.length());
      objects.add(new Listed(name, object.size(), object.lastModified()));
    }
    boolean more = page.isTruncated() != null && page.isTruncated();
    var next = more ? page.nextContinuationToken() : null;
    return new Page(objects, next, now(page.sdkHttpResponse()));
  }

  @Override
  public void close() {
    client.close();
  }

  /** The time of the server, so that clocks need not agree; ours if it does not say. */
  private static Instant now(SdkHttpResponse response) {
    try {
      return response
          .firstMatchingHeader("Date")
          .map(date -> ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME))
          .map(ZonedDateTime::toInstant)
          .orElseGet(Instant::now);
    } catch (DateTimeParseException e) {
      return Instant.now();
    }
  }

  /** A request to the SDK. */
  private interface Call<T> {
    T make();
  }

  private static <T> T call(Call<T> call) throws IOException {
    try {
      return call.make();
    } catch (SdkException e) {
      throw new IOException(e.getMessage(), e);
    } catch (IllegalStateException e) {
      throw new IOException("the store is closed", e);
    }
  }

  private static <T> @Nullable T found(Call<T> call) throws IOException {
    return unless(call, NOT_FOUND, RANGE_NOT_SATISFIABLE);
  }

  /** Something that is not there is not that of a tag either. */
  private static <T> @Nullable T changed(Call<T> call) throws IOException {
    return unless(call, PRECONDITION_FAILED, CONFLICT, NOT_FOUND);
  }

  private static <T> @Nullable T unless(Call<T> call, int... statuses) throws IOException {
    try {
      return call(call);
    } catch (IOException e) {
      if (e.getCause() instanceof S3Exception answer) {
        // A bucket that is not there must not look like one that is empty.
        var details = answer.awsErrorDetails();
        boolean noBucket = details != null && "NoSuchBucket".equals(details.errorCode());
        for (int status : statuses) if (answer.statusCode() == status && !noBucket) return null;
      }
      throw e;
    }
  }
}
