package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** Somebody who asks, reads to the end or leaves in the middle, and asks again. */
final class SoakCaller {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final String STREAM = ", \"stream\": true";
  private static final List<String> WORDS =
      List.of("lantern", "candle", "river", "bridge", "needle", "anchor", "violin", "harvest");

  private final URI url;
  private final int number;
  private final SplittableRandom random;
  private final List<String> wrong = new ArrayList<>();
  private @Nullable SoakConnection connection;
  private int whole;
  private int left;
  private int busy;

  SoakCaller(String url, int number) {
    this.url = URI.create(url);
    this.number = number;
    this.random = new SplittableRandom(number);
  }

  /** Counts of what callers have seen; 429 and 503 are not errors. */
  record Tally(int whole, int left, int busy, List<String> wrong) {
    static Tally of(List<SoakCaller> callers) {
      var wrong = new ArrayList<String>();
      callers.forEach(caller -> wrong.addAll(caller.wrong));
      return new Tally(
          callers.stream().mapToInt(caller -> caller.whole).sum(),
          callers.stream().mapToInt(caller -> caller.left).sum(),
          callers.stream().mapToInt(caller -> caller.busy).sum(),
          wrong);
    }
  }

  void run(long endNanos) {
    while (System.nanoTime() < endNanos && wrong.size() < 10) {
      try {
        switch (random.nextInt(5)) {
          case 0 -> readWhole();
          case 1 -> stream(1 + random.nextInt(8));
          case 2 -> leaveBeforeTheAnswer();
          default -> stream(Integer.MAX_VALUE);
        }
      } catch (IOException | RuntimeException e) {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(endNanos - System.nanoTime());
        wrong.add("caller %d, %d s before the end: %s".formatted(number, seconds, e));
        leave();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    leave();
  }

  private String question(String more) {
    var preamble = "Rule " + random.nextInt(12) + ": be brief. ";
    return """
    {"messages": [{"role": "system", "content": "%s"},
                  {"role": "user", "content": "What is a %s?"}], "max_tokens": %s%s}\
    """
        .formatted(
            preamble.repeat(4 + random.nextInt(30)),
            WORDS.get(random.nextInt(WORDS.size())),
            1 + random.nextInt(40),
            more);
  }

  private SoakConnection sendRequest(String more) throws IOException {
    if (connection == null) connection = new SoakConnection(url, PATIENCE);
    connection.send("/v1/chat/completions", question(more));
    return connection;
  }

  private void readWhole() throws IOException {
    var answer = sendRequest("").answer();
    var body = new String(answer.body().readAllBytes(), StandardCharsets.UTF_8);
    if (isServed(answer.status(), body)) whole++;
  }

  private void leaveBeforeTheAnswer() throws IOException, InterruptedException {
    var opened = sendRequest(STREAM);
    Thread.sleep(random.nextInt(60));
    left++;
    if (random.nextBoolean()) opened.abort();
    leave();
  }

  /** Reads so many events, or all there are. */
  private void stream(int events) throws IOException {
    var answer = sendRequest(STREAM).answer();
    if (answer.status() != 200) {
      var body = new String(answer.body().readAllBytes(), StandardCharsets.UTF_8);
      isServed(answer.status(), body);
    } else if (read(answer.body(), events)) {
      whole++;
    } else {
      left++;
      leave();
    }
  }

  private void leave() {
    if (connection != null) connection.close();
    connection = null;
  }

  /** Returns whether the stream was read to its end. */
  private boolean read(InputStream body, int events) throws IOException {
    var reader = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    int seen = 0;
    for (var line = reader.readLine(); line != null; line = reader.readLine()) {
      if (line.equals("data: [DONE]")) return isOver(reader);
      if (line.contains("\"error\"")) wrong.add("caller " + number + " was told " + line);
      if (line.startsWith("data: ") && ++seen >= events) return false;
    }
    wrong.add("caller " + number + ": a stream of " + seen + " events ended without [DONE]");
    return false;
  }

  private boolean isOver(BufferedReader reader) throws IOException {
    for (var line = reader.readLine(); line != null; line = reader.readLine()) {
      if (!line.isEmpty()) wrong.add("caller " + number + " heard after the end: " + line);
    }
    return true;
  }

  private boolean isServed(int status, String body) {
    if (status == 200) return true;
    if (status == 429 || status == 503) busy++;
    else wrong.add("caller " + number + ": " + status + " " + body);
    return false;
  }
}
