package dev.kvasir.kv.evict.learned;

import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.evict.policy.ReturnHint.Expectation;
import java.nio.ByteBuffer;

/**
 * Decides whose hints are trusted: those of tenants whose earlier hints were right.
 *
 * <p>For each tenant and each kind of hint, it counts the requests and those that returned. A hint
 * counts as far as it predicts better than the tenant's average: a tenant that always gives the
 * same hint, or wrong ones, is ignored.
 */
final class HintTrust {
  /** Number of tenants that are distinguished; hints of further ones are ignored and counted. */
  static final int TENANTS_MAX = 64;

  /** In place of a tenant: one too many. */
  static final int NO_TENANT = -1;

  static final int EXPECTATIONS = Expectation.values().length;

  private static final float REQUESTS_MIN = 6;
  private static final float RETURNS_MIN = 3;
  private static final float REQUESTS_MAX = 4_096;

  /** By how much the logarithm of the odds of a return must differ from the tenant's average. */
  private static final double DIFFERENCE_MIN = 0.3;

  private final long[] names = new long[TENANTS_MAX];
  private final float[] requestCounts = new float[TENANTS_MAX * EXPECTATIONS];
  private final float[] returned = new float[TENANTS_MAX * EXPECTATIONS];
  private int tenants;
  private long ignored;

  /** The number of the tenant, or {@link #NO_TENANT}. */
  int tenant(ReturnHint hint) {
    for (int tenant = 0; tenant < tenants; tenant++) {
      if (names[tenant] == hint.tenant()) return tenant;
    }
    if (tenants == TENANTS_MAX) {
      if (hint.expectation() != Expectation.NOTHING) ignored++;
      return NO_TENANT;
    }
    names[tenants] = hint.tenant();
    return tenants++;
  }

  /** Returns the number of hints that were ignored because there were too many tenants. */
  long ignored() {
    return ignored;
  }

  /** Counts a request of the tenant with that hint. */
  void countRequest(int tenant, Expectation expectation) {
    int row = tenant * EXPECTATIONS;
    requestCounts[row + expectation.code()]++;
    if (sum(requestCounts, row) < REQUESTS_MAX) return;
    for (int at = row; at < row + EXPECTATIONS; at++) {
      requestCounts[at] /= 2;
      returned[at] /= 2;
    }
  }

  /** The tenant's request that said the one says the other now. */
  void corrected(int tenant, int before, Expectation expectation) {
    int row = tenant * EXPECTATIONS;
    requestCounts[row + before] = Math.max(0, requestCounts[row + before] - 1);
    requestCounts[row + expectation.code()]++;
  }

  /** That share of a request of the tenant's that said so has returned. */
  void returned(int tenant, int expectation, float share) {
    returned[tenant * EXPECTATIONS + expectation] += share;
  }

  /** Returns whether the tenant's hints of that kind are reliable enough to be used. */
  boolean believes(int tenant, Expectation expectation) {
    if (tenant == NO_TENANT || expectation == Expectation.NOTHING) return false;
    int row = tenant * EXPECTATIONS;
    double requests = requestCounts[row + expectation.code()];
    double all = sum(requestCounts, row);
    double returns = sum(returned, row);
    if (requests < REQUESTS_MIN || all < 2 * REQUESTS_MIN || returns < RETURNS_MIN) return false;
    double difference =
        logOdds(returned[row + expectation.code()], requests) - logOdds(returns, all);
    return (expectation == Expectation.RETURNS ? difference : -difference) >= DIFFERENCE_MIN;
  }

  /** Writes what is known of the tenants. */
  void write(ByteBuffer out) {
    out.putInt(tenants);
    for (int tenant = 0; tenant < tenants; tenant++) {
      out.putLong(names[tenant]);
      for (int at = tenant * EXPECTATIONS; at < (tenant + 1) * EXPECTATIONS; at++) {
        out.putFloat(requestCounts[at]).putFloat(returned[at]);
      }
    }
  }

  /** Reads what {@link #write} wrote; false where it is not that, and then this is worthless. */
  boolean read(ByteBuffer in) {
    int count = in.getInt();
    if (count < 0 || count > TENANTS_MAX) return false;
    for (tenants = 0; tenants < count; tenants++) {
      names[tenants] = in.getLong();
      for (int at = tenants * EXPECTATIONS; at < (tenants + 1) * EXPECTATIONS; at++) {
        requestCounts[at] = in.getFloat();
        returned[at] = in.getFloat();
        if (!ReturnTables.isCount(requestCounts[at]) || !ReturnTables.isCount(returned[at]))
          return false;
      }
    }
    return true;
  }

  private static double sum(float[] counts, int row) {
    return counts[row] + counts[row + 1] + counts[row + 2];
  }

  private static double logOdds(double returns, double requests) {
    return StrictMath.log((returns + 1) / (Math.max(0, requests - returns) + 1));
  }
}
