package dev.kvasir.sim.result;

import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.RequestRows;
import dev.kvasir.sim.workload.TraceCaller;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;

/**
 * The results of all requests, in the order of arrival.
 *
 * <p>A run has millions of them. Their figures are kept in arrays, which cost the garbage collector
 * little, and each result is made on demand.
 */
public final class RequestResults extends AbstractList<RequestResult> implements RandomAccess {
  private static final List<RequestEnding> ENDINGS = List.of(RequestEnding.values());
  private static final int TIMES = 4;
  private static final int COUNTS = 5;
  private static final int PART_SHIFT = 10;
  private static final int PART_SIZE = 1 << PART_SHIFT;

  /** Some requests that came one after the other: with more of them nothing has to be moved. */
  private static final class Part {
    private final byte[] routeClasses = new byte[PART_SIZE];
    private final byte[] endings = new byte[PART_SIZE];
    private final long[] times = new long[PART_SIZE * TIMES];
    private final int[] counts = new int[PART_SIZE * COUNTS];

    /** Empty as long as nothing was cached of any of them. */
    private CachedBlocks[] cached = {};

    CachedBlocks cached(int place) {
      return cached.length == 0 ? CachedBlocks.NONE : cached[place];
    }

    void cached(int place, CachedBlocks blocks) {
      if (blocks.equals(cached(place))) return;
      if (cached.length == 0) {
        cached = new CachedBlocks[PART_SIZE];
        Arrays.fill(cached, CachedBlocks.NONE);
      }
      cached[place] = blocks;
    }
  }

  private final RequestRows requests = new RequestRows();
  private final List<Part> parts = new ArrayList<>();
  private final List<String> labels = new ArrayList<>();

  /** These results, as they are or in arrays. */
  static RequestResults of(List<RequestResult> results) {
    if (results instanceof RequestResults same) return same;
    var copy = new RequestResults();
    for (var result : results) copy.record(copy.expect(result.request()), result);
    return copy;
  }

  /** A request has come; its result is told under the number that this answers. */
  public int expect(Request request) {
    int number = requests.add(request);
    if (place(number) == 0) parts.add(new Part());
    return number;
  }

  private static int place(int number) {
    return number & (PART_SIZE - 1);
  }

  /** Records the outcome of the request of that number. */
  public void record(int number, RequestResult result) {
    var part = parts.get(number >>> PART_SHIFT);
    int place = place(number);
    part.endings[place] = (byte) ENDINGS.indexOf(result.ending());
    part.routeClasses[place] = label(result.routeClass());
    part.cached(place, result.cached());
    int time = place * TIMES;
    part.times[time] = result.ttftMicros();
    part.times[time + 1] = result.e2eMicros();
    part.times[time + 2] = result.schedulingMicros();
    part.times[time + 3] = result.gapMicros();
    int count = place * COUNTS;
    part.counts[count] = result.instance();
    part.counts[count + 1] = result.prefillInstance();
    part.counts[count + 2] = result.gaps();
    part.counts[count + 3] = result.outputTokens();
    part.counts[count + 4] = result.cachedTokens();
  }

  private byte label(String routeClass) {
    int known = labels.indexOf(routeClass);
    if (known >= 0) return (byte) known;
    labels.add(routeClass);
    return (byte) (labels.size() - 1);
  }

  @Override
  public RequestResult get(int number) {
    Objects.checkIndex(number, size());
    return new RequestResult(
        requests.get(number),
        instance(number),
        prefillInstance(number),
        ending(number),
        routeClass(number),
        ttftMicros(number),
        e2eMicros(number),
        schedulingMicros(number),
        time(number, 3),
        count(number, 2),
        outputTokens(number),
        cachedTokens(number),
        cached(number));
  }

  @Override
  public int size() {
    return requests.size();
  }

  private Part part(int number) {
    return parts.get(number >>> PART_SHIFT);
  }

  private long time(int number, int which) {
    return part(number).times[place(number) * TIMES + which];
  }

  private int count(int number, int which) {
    return part(number).counts[place(number) * COUNTS + which];
  }

  // The figures of one result, for those who go through all of them.

  public RequestEnding ending(int number) {
    return ENDINGS.get(part(number).endings[place(number)]);
  }

  public String routeClass(int number) {
    return labels.get(part(number).routeClasses[place(number)]);
  }

  public long ttftMicros(int number) {
    return time(number, 0);
  }

  public long e2eMicros(int number) {
    return time(number, 1);
  }

  public long schedulingMicros(int number) {
    return time(number, 2);
  }

  public double meanGapMicros(int number) {
    return RequestResult.meanGapMicros(time(number, 3), requests.outputTokens(number));
  }

  public int instance(int number) {
    return count(number, 0);
  }

  public int prefillInstance(int number) {
    return count(number, 1);
  }

  public int outputTokens(int number) {
    return count(number, 3);
  }

  public int cachedTokens(int number) {
    return count(number, 4);
  }

  public CachedBlocks cached(int number) {
    return part(number).cached(place(number));
  }

  public int promptTokens(int number) {
    return requests.promptTokens(number);
  }

  public TraceCaller caller(int number) {
    return requests.caller(number);
  }
}
