package dev.kvasir.tiers.s3;

import dev.kvasir.Nullable;
import java.net.URI;
import java.util.regex.Pattern;

/**
 * Location of the objects of a tier.
 *
 * @param endpoint the server; null for that of AWS in the region
 * @param region its region; one that is not AWS usually takes any
 * @param bucket the bucket, which is there already
 * @param prefix what the names of our objects begin with
 */
public record ObjectPlace(@Nullable URI endpoint, String region, String bucket, String prefix) {
  private static final Pattern BUCKET = Pattern.compile("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]");
  private static final Pattern PREFIX = Pattern.compile("[\\w-]+([./][\\w-]+)*");
  private static final int PREFIX_MAX = 200;

  public ObjectPlace {
    if (endpoint != null && (endpoint.getHost() == null || !isHttp(endpoint))) {
      throw new IllegalArgumentException(
          "endpoint " + endpoint + ", expected http://host:port or https://host");
    }
    if (region.isBlank()) throw new IllegalArgumentException("an object tier without a region");
    if (!BUCKET.matcher(bucket).matches()) {
      throw new IllegalArgumentException(
          "bucket '" + bucket + "', expected 3 to 63 small letters, digits, dots and hyphens");
    }
    if (prefix.length() > PREFIX_MAX || !PREFIX.matcher(prefix).matches()) {
      throw new IllegalArgumentException(
          "prefix '" + prefix + "', expected words of letters and digits with / between them");
    }
  }

  private static boolean isHttp(URI endpoint) {
    return "http".equals(endpoint.getScheme()) || "https".equals(endpoint.getScheme());
  }
}
