package dev.kvasir.sim.server;

import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The server in front of an engine: one event loop through which every prompt comes in and every
 * token goes out, first come, first served, and a tokenizer beside it. Requests wait for them like
 * for the engine.
 *
 * <pre>
 *   enter - receive, side by side - call - hop - call - deliver - the engine
 *                                    |            |
 *                     take - tokenize - take      the same             outputs: take
 * </pre>
 *
 * <p>The tokenizer takes all prompts that wait for it at once and tokenizes them side by side, so
 * that a batch takes as long as its longest prompt; who comes meanwhile waits for the next batch.
 */
public final class FrontStage {
  private static final double NANOS_PER_MICRO = 1000;

  private final EventLoop loop;
  private final ServerTimes.Front times;
  private final ServerTimes.WarmUp warmUp;
  private List<Prompt> untokenized = new ArrayList<>();
  private boolean tokenizing;
  private long freeNanos;
  private double unsent;
  private long sentNanos;
  private long entered;

  /** A prompt that waits for the tokenizer. */
  private record Prompt(double micros, Runnable done) {}

  public FrontStage(EventLoop loop, ServerModel model) {
    this.loop = loop;
    this.times = model.times().front();
    this.warmUp = model.times().warmUp();
  }

  /** Requests that have come so far. */
  long entered() {
    return entered;
  }

  /** Takes a request in, and hands it to the engine when it is through. */
  public void enter(int promptTokens, Runnable engine) {
    double slow = warmUp.ofFront(entered++);
    double micros = times.receiveMicros() + times.receiveTokenNanos() / 1000 * promptTokens;
    after(
        loop.nanos() + ServerModel.nanos(micros * slow), () -> call(promptTokens, slow, 1, engine));
  }

  private void call(int promptTokens, double slow, int turn, Runnable engine) {
    double micros = times.callMicros() / 2 + times.callTokenMicros() * promptTokens;
    double tokenizer = times.tokenizeTokenMicros() * promptTokens * slow;
    after(
        reserve(micros * slow),
        () -> tokenize(new Prompt(tokenizer, () -> answer(promptTokens, slow, turn, engine))));
  }

  /** The other half of the call, when its prompt is tokenized. */
  private void answer(int promptTokens, double slow, int turn, Runnable engine) {
    long end = reserve(times.callMicros() / 2 * slow);
    if (turn == times.calls()) {
      after(end + ServerModel.nanos(times.deliverMicros() * slow), engine);
    } else {
      long back = end + ServerModel.nanos(times.hopMicros() * slow);
      after(back, () -> call(promptTokens, slow, turn + 1, engine));
    }
  }

  private void tokenize(Prompt prompt) {
    untokenized.add(prompt);
    if (!tokenizing) tokenizeAll();
  }

  private void tokenizeAll() {
    var batch = untokenized;
    untokenized = new ArrayList<>();
    tokenizing = !batch.isEmpty();
    if (!tokenizing) return;
    double longest = 0;
    for (var each : batch) longest = Math.max(longest, each.micros());
    after(
        loop.nanos() + ServerModel.nanos(longest),
        () -> {
          for (var each : batch) each.done().run();
          tokenizeAll();
        });
  }

  /**
   * Sends the tokens of a step out, one for each of its requests; who waits for one of them hears
   * of it when it is through. A request whose last token still waits for the event loop has both
   * sent as one, so that outputs alone never hold up the loop for longer than one step of them.
   *
   * @return when those tokens are through that nobody waits for
   */
  long send(int tokens, Iterable<Runnable> waiting) {
    double left = Math.max(0, (sentNanos - loop.nanos()) / NANOS_PER_MICRO);
    double waits = left == 0 ? 0 : Math.min(unsent, left / times.outputMicros());
    double merged = Math.min(waits, tokens);
    long end = reserve(times.outputMicros() * (tokens - merged));
    unsent = waits + tokens - merged;
    sentNanos = merged < tokens ? end : sentNanos;
    for (var each : waiting) after(reserve(times.endMicros()), each);
    return end;
  }

  /** The time that a token takes besides that somebody waits for. */
  long eachNanos() {
    return ServerModel.nanos(times.endMicros());
  }

  /** Reserves the event loop's time for a piece of work that waits from now on. */
  private long reserve(double micros) {
    freeNanos = Math.max(freeNanos, loop.nanos()) + ServerModel.nanos(micros);
    return freeNanos;
  }

  private void after(long nanos, Runnable task) {
    loop.after(Duration.ofNanos(nanos - loop.nanos()), task);
  }
}
