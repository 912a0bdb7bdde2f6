package dev.kvasir.sim.cache;

import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.IntSupplier;
import java.util.function.IntToDoubleFunction;

/**
 * Makes traffic up, of kinds that differ in who returns and when: for what must hold on any
 * traffic, not only on what was recorded.
 */
final class MadeTrace {
  private static final int BLOCK_TOKENS = 512;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final int OUTPUT_TOKENS_MAX = 1_024;

  /** The kinds, by what is special about each. */
  enum Kind {
    /** Conversations return or not by the toss of a coin, after times with no memory. */
    BY_CHANCE(made -> made.chats(3, _ -> 0.5, made.exponential(120))),
    /** Almost all return, and nothing tells which do not. */
    FAITHFUL(made -> made.chats(1, _ -> 0.9, made.exponential(60))),
    /** Most end at once; who came twice comes often. */
    FEW_STAY(made -> made.chats(4, turn -> turn == 1 ? 0.15 : 0.85, made.heavy(30))),
    /** After the third turn nobody returns. */
    THREE_TURNS(made -> made.chats(3, turn -> turn < 3 ? 0.8 : 0, made.exponential(90))),
    /** The next turn comes at once or very late. */
    HEAVY_GAPS(made -> made.chats(3, _ -> 0.6, made.heavy(10))),
    /** Each turn comes after about the same time. */
    EVEN_GAPS(made -> made.chats(3, _ -> 0.7, made.even(100))),
    /** Programs that call tools: many short turns close together, then they end. */
    TOOL_CALLS(made -> made.chats(0.4, turn -> turn < 20 ? 0.95 : 0.5, made.exponential(4))),
    /** The same chain over and over among others, always in the same order. */
    LOOP(made -> made.loop(400, 12)),
    /** Documents of which some are asked for more often than others. */
    ZIPF(made -> made.documents(3_000, 1)),
    /** Documents of which each is as likely as any other. */
    UNIFORM(made -> made.documents(900, 0)),
    /** References in which what was used last is the likeliest to be used next: LRU is right. */
    DRIFT(MadeTrace::drift),
    /** Conversations beside a job that reads everything once. */
    SCANS(
        made -> {
          made.chats(2, _ -> 0.6, made.exponential(60));
          made.scans(1, 60);
        }),
    /** Tenants that are unlike each other. */
    TENANTS(
        made -> {
          made.chats(1, _ -> 0.5, made.exponential(200));
          made.chats(0.2, turn -> turn < 15 ? 0.95 : 0.3, made.exponential(5));
          made.documents(1_000, 0.8);
          made.scans(0.5, 30);
        }),
    /**
     * Conversations in phases: those that used to return stop returning, and later return again.
     */
    PHASES(made -> made.chats(3, made::returnsInPhase, made.exponential(60)));

    @SuppressWarnings("ImmutableEnumChecker") // a lambda that holds nothing
    private final Consumer<MadeTrace> recipe;

    Kind(Consumer<MadeTrace> recipe) {
      this.recipe = recipe;
    }

    /** So many requests of that kind. */
    @SuppressWarnings("EnumOrdinal") // any number that tells the kinds apart
    List<Request> make(int requests, long seed) {
      var made = new MadeTrace(new SplittableRandom(seed ^ ordinal()));
      recipe.accept(made);
      return made.run(requests);
    }
  }

  private record Event(double seconds, long number, Runnable happens) {}

  private static final double PHASE_SECONDS = 900;

  private final SplittableRandom random;
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          Comparator.comparingDouble(Event::seconds).thenComparingLong(Event::number));
  private final List<Request> requests = new ArrayList<>();
  private double now;
  private long numbers;

  private MadeTrace(SplittableRandom random) {
    this.random = random;
  }

  private List<Request> run(int count) {
    while (requests.size() < count) {
      var next = events.remove();
      now = next.seconds();
      next.happens().run();
    }
    return requests;
  }

  private void after(double seconds, Runnable happens) {
    events.add(new Event(now + seconds, numbers++, happens));
  }

  /** Lets something happen again and again, so often in a second. */
  private void often(double rate, Runnable happens) {
    var gap = exponential(1 / rate);
    after(
        gap.getAsDouble(),
        new Runnable() {
          @Override
          public void run() {
            happens.run();
            after(gap.getAsDouble(), this);
          }
        });
  }

  private void chats(double rate, IntToDoubleFunction returns, DoubleSupplier gap) {
    IntSupplier growth = () -> 1 + (int) exponential(4).getAsDouble();
    often(rate, () -> turn(new ArrayList<>(), 1, returns, gap, growth));
  }

  private void turn(
      List<Long> blocks,
      int turn,
      IntToDoubleFunction returns,
      DoubleSupplier gap,
      IntSupplier growth) {
    for (int more = growth.getAsInt(); more > 0; more--) blocks.add(numbers++);
    addRequest(blocks);
    boolean goesOn = random.nextDouble() < returns.applyAsDouble(turn) && blocks.size() < 200;
    if (goesOn) after(gap.getAsDouble(), () -> turn(blocks, turn + 1, returns, gap, growth));
  }

  private double returnsInPhase(int turn) {
    boolean odd = (long) (now / PHASE_SECONDS) % 2 == 1;
    return (turn == 1) == odd ? 0.8 : 0.2;
  }

  private void loop(int chains, int blocks) {
    var all = chainsOf(chains, () -> blocks);
    var next = new int[1];
    often(2, () -> addRequest(all.get(next[0]++ % chains)));
    chats(0.3, _ -> 0.4, exponential(60));
  }

  private void documents(int documents, double exponent) {
    var all = chainsOf(documents, () -> 4 + random.nextInt(12));
    var shares = new double[documents];
    double sum = 0;
    for (int i = 0; i < documents; i++) shares[i] = sum += Math.pow(i + 1, -exponent);
    double total = sum;
    often(
        2,
        () -> {
          int at = Arrays.binarySearch(shares, random.nextDouble() * total);
          var blocks = new ArrayList<>(all.get(Math.min(documents - 1, at < 0 ? -at - 1 : at)));
          for (int more = random.nextInt(3); more > 0; more--) blocks.add(numbers++);
          addRequest(blocks);
        });
  }

  /** Each request takes a chain from a stack, near the top most often, and puts it on top. */
  private void drift() {
    var stack = chainsOf(2_000, () -> 1 + random.nextInt(16));
    often(
        2,
        () -> {
          int depth = (int) Math.min(stack.size() - 1, exponential(250).getAsDouble());
          List<Long> copied =
              random.nextInt(10) == 0
                  ? chainsOf(1, () -> 8).getFirst()
                  : stack.remove(stack.size() - 1 - depth);
          addRequest(copied);
          stack.add(copied);
        });
  }

  private void scans(double rate, int blocks) {
    often(rate, () -> addRequest(chainsOf(1, () -> 1 + random.nextInt(blocks)).getFirst()));
  }

  private List<List<Long>> chainsOf(int count, IntSupplier blocks) {
    var chains = new ArrayList<List<Long>>();
    for (int i = 0; i < count; i++) {
      var chain = new ArrayList<Long>();
      for (int more = blocks.getAsInt(); more > 0; more--) chain.add(numbers++);
      chains.add(chain);
    }
    return chains;
  }

  /** Adds a request for those blocks and a part of one more. */
  private void addRequest(List<Long> blocks) {
    var ids = new long[blocks.size() + 1];
    for (int i = 0; i < blocks.size(); i++) ids[i] = blocks.get(i);
    long own = numbers++;
    ids[blocks.size()] = own;
    int tokens = blocks.size() * BLOCK_TOKENS + 1 + random.nextInt(BLOCK_TOKENS - 1);
    requests.add(
        Request.of(
            "made-" + requests.size(),
            (long) (now * NANOS_PER_SECOND),
            tokens,
            random.nextInt(OUTPUT_TOKENS_MAX),
            Content.ids(ids, BLOCK_TOKENS, tokens, own)));
  }

  private DoubleSupplier exponential(double mean) {
    return () -> -mean * Math.log(1 - random.nextDouble());
  }

  /** Half of the times are below the middle, and some are very long. */
  private DoubleSupplier heavy(double middle) {
    return () -> middle * Math.exp(2 * random.nextGaussian());
  }

  private DoubleSupplier even(double middle) {
    return () -> middle * (0.9 + 0.2 * random.nextDouble());
  }
}
