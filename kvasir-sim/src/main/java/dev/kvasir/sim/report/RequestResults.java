package dev.kvasir.sim.report;

import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.sim.workload.Request;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.RandomAccess;

/**
 * The results of all requests, in the order of arrival.
 *
 * <p>A run has millions of them. Their figures are kept in arrays, which cost the garbage collector
 * little, and each result is made on demand.
 */
public final class RequestResults extends AbstractList<RequestResult> implements RandomAccess {
  private static final List<Ending> ENDINGS = List.of(Ending.values());
  private static final int TIMES = 4;
  private static final int COUNTS = 5;
  private static final int FIRST_CAPACITY = 64;

  private final List<Request> requests = new ArrayList<>();
  private final List<CachedBlocks> cached = new ArrayList<>();
  private final List<String> labels = new ArrayList<>();
  private byte[] routeClasses = new byte[FIRST_CAPACITY];
  private byte[] endings = new byte[FIRST_CAPACITY];
  private long[] times = new long[FIRST_CAPACITY * TIMES];
  private int[] counts = new int[FIRST_CAPACITY * COUNTS];

  /** A request has come; its result is told under the number that this answers. */
  public int expect(Request request) {
    int number = requests.size();
    if (number == endings.length) {
      endings = Arrays.copyOf(endings, 2 * number);
      routeClasses = Arrays.copyOf(routeClasses, 2 * number);
      times = Arrays.copyOf(times, 2 * number * TIMES);
      counts = Arrays.copyOf(counts, 2 * number * COUNTS);
    }
    requests.add(request);
    cached.add(CachedBlocks.NONE);
    return number;
  }

  /** What became of the request of that number. */
  public void tell(int number, RequestResult result) {
    endings[number] = (byte) ENDINGS.indexOf(result.ending());
    routeClasses[number] = label(result.routeClass());
    if (!result.cached().equals(CachedBlocks.NONE)) cached.set(number, result.cached());
    int time = number * TIMES;
    times[time] = result.ttftMicros();
    times[time + 1] = result.e2eMicros();
    times[time + 2] = result.schedulingMicros();
    times[time + 3] = result.gapMicros();
    int count = number * COUNTS;
    counts[count] = result.instance();
    counts[count + 1] = result.prefillInstance();
    counts[count + 2] = result.gaps();
    counts[count + 3] = result.outputTokens();
    counts[count + 4] = result.cachedTokens();
  }

  private byte label(String routeClass) {
    int known = labels.indexOf(routeClass);
    if (known >= 0) return (byte) known;
    labels.add(routeClass);
    return (byte) (labels.size() - 1);
  }

  @Override
  public RequestResult get(int number) {
    int time = number * TIMES;
    int count = number * COUNTS;
    return new RequestResult(
        requests.get(number),
        counts[count],
        counts[count + 1],
        ENDINGS.get(endings[number]),
        labels.get(routeClasses[number]),
        times[time],
        times[time + 1],
        times[time + 2],
        times[time + 3],
        counts[count + 2],
        counts[count + 3],
        counts[count + 4],
        cached.get(number));
  }

  @Override
  public int size() {
    return requests.size();
  }
}
