package dev.kvasir.net.auth;

import dev.kvasir.Nullable;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import java.util.List;

/** The keys of a server; with none, everybody may use it. */
public record ApiKeys(List<ApiKey> all) {
  public static final ApiKeys NONE = new ApiKeys(List.of());

  private static final String SCHEME = "bearer ";

  public ApiKeys {
    all = List.copyOf(all);
  }

  /**
   * Returns who sends this header; throws {@link Refused} for callers who may not use the endpoint.
   *
   * @param authorization the header as it came; null where there is none
   */
  public Caller admit(Access access, @Nullable String authorization) {
    boolean needsKey = access == Access.KEY || access == Access.ADMIN;
    if (!needsKey || all.isEmpty()) return Caller.ANYONE;
    var key = find(authorization);
    if (key == null) throw new Refused(ApiError.unauthorised());
    if (access == Access.ADMIN && key.scope() == ApiKey.Scope.USER) {
      throw new Refused(ApiError.forbidden("this takes a key for administration"));
    }
    return Caller.of(key);
  }

  /** Compares with every key, found or not, so that time tells nothing. */
  private @Nullable ApiKey find(@Nullable String authorization) {
    if (authorization == null || !isBearer(authorization)) return null;
    var hash = ApiKey.hash(authorization.substring(SCHEME.length()).strip());
    ApiKey found = null;
    for (var key : all) {
      if (key.matches(hash)) found = key;
    }
    return found;
  }

  private static boolean isBearer(String authorization) {
    return authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length());
  }
}
