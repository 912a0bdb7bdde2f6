package dev.kvasir.sim.workload;

import dev.kvasir.Nullable;
import dev.kvasir.sim.workload.SessionSpec.Growth;

/**
 * Makes the requests of one client.
 *
 * <p>Each purpose and each session has its own random stream, so nothing else, not even the order
 * of answers, changes what a client asks.
 */
final class ClientSource {
  private static final long ARRIVAL = 1;
  private static final long INPUT = 2;
  private static final long OUTPUT = 3;
  private static final long SESSION = 4;

  private final ClientSpec spec;
  private final long seed;
  private final long key;
  private final ArrivalClock clock;
  private final Chance input;
  private final Chance output;
  private final long group;
  private final long timeoutNanos;
  private long nextNanos;
  private long count;

  ClientSource(ClientSpec spec, long seed) {
    this.spec = spec;
    this.seed = seed;
    key = Mix.of(spec.id());
    clock = new ArrivalClock(spec.arrival(), Chance.of(seed, key, ARRIVAL));
    input = Chance.of(seed, key, INPUT);
    output = Chance.of(seed, key, OUTPUT);
    group = Content.number(spec.prefix().group());
    timeoutNanos = spec.timeout().toNanos();
    nextNanos = clock.next();
  }

  String id() {
    return spec.id();
  }

  /** When the next request comes by itself. */
  long nextNanos() {
    return nextNanos;
  }

  /** The request that comes by itself at {@link #nextNanos}. */
  Request next() {
    long number = count++;
    long arrival = nextNanos;
    nextNanos = clock.next();
    var sessions = spec.sessions();
    if (sessions != null) return first(sessions, number, arrival);
    int prompt = prompt(spec.prefix().tokens() + (long) spec.input().tokens(input));
    return request(
        spec.id() + "-" + number,
        arrival,
        prompt,
        spec.output().tokens(output),
        alone(number, 0),
        Turn.ALONE);
  }

  private Request first(SessionSpec sessions, long number, long arrival) {
    var chance = chance(number, 0);
    var session = spec.id() + "/" + number;
    int prompt = prompt(spec.prefix().tokens() + (long) spec.input().tokens(chance));
    return request(
        session + ".0",
        arrival,
        prompt,
        spec.output().tokens(chance),
        sessions.growth() == Growth.FRESH ? alone(number, 0) : growing(number),
        new Turn(session, 0, 0));
  }

  /** The question that follows the answer; null if the session is over. */
  @Nullable
  Request after(Request answered, long nanos) {
    var sessions = spec.sessions();
    if (sessions == null) return null;
    var session = answered.turn().session();
    long number = Long.parseLong(session, session.indexOf('/') + 1, session.length(), 10);
    int round = answered.turn().round() + 1;
    if (round >= sessions.rounds().tokens(chance(number, -1))) return null;
    var chance = chance(number, round);
    int added = spec.input().tokens(chance);
    int outputTokens = spec.output().tokens(chance);
    long think = sessions.think().nanos(chance);
    boolean fresh = sessions.growth() == Growth.FRESH;
    long before = fresh ? spec.prefix().tokens() : answered.tokens();
    if (before + added > LengthSpec.TOKENS_MAX) return null;
    return request(
        session + "." + round,
        nanos + think,
        prompt(before + added),
        outputTokens,
        fresh ? alone(number, round) : answered.content(),
        new Turn(session, round, think));
  }

  private Request request(
      String id, long arrival, int prompt, int outputTokens, Content content, Turn turn) {
    long deadline = timeoutNanos == 0 ? 0 : arrival + timeoutNanos;
    return new Request(id, arrival, prompt, outputTokens, content, spec.caller(), turn, deadline);
  }

  /** A prompt has a token at least, whatever was drawn. */
  private static int prompt(long tokens) {
    return (int) Math.max(1, tokens);
  }

  private Chance chance(long session, int round) {
    return Chance.of(seed, key, SESSION, session, round);
  }

  private Content alone(long number, int round) {
    long own = Mix.spread(key + Mix.spread(number)) + round;
    return Content.shared(group, spec.prefix().tokens(), own);
  }

  private Content growing(long number) {
    return Content.session(group, spec.prefix().tokens(), Mix.spread(key + number));
  }
}
