package dev.kvasir.cli.serve;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Somebody who asks, reads to the end or leaves in the middle, and asks again. */
final class SoakCaller {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final List<String> WORDS =
      List.of("lantern", "candle", "river", "bridge", "needle", "anchor", "violin", "harvest");

  private final HttpClient client;
  private final URI url;
  private final int number;
  private final SplittableRandom random;
  private final List<String> wrong = new ArrayList<>();
  private int whole;
  private int left;
  private int busy;

  SoakCaller(HttpClient client, String url, int number) {
    this.client = client;
    this.url = URI.create(url + "/v1/chat/completions");
    this.number = number;
    this.random = new SplittableRandom(number);
  }

  /** What callers have seen; 429 and 503 are no mistakes. */
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
          case 0 -> askWhole();
          case 1 -> stream(1 + random.nextInt(8));
          case 2 -> leaveBeforeTheAnswer();
          default -> stream(Integer.MAX_VALUE);
        }
      } catch (IOException | ExecutionException | TimeoutException e) {
        wrong.add(
            "caller %d, %d s before the end: %s, %s"
                .formatted(
                    number,
                    TimeUnit.NANOSECONDS.toSeconds(endNanos - System.nanoTime()),
                    e,
                    e.getCause()));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private HttpRequest request(String more) {
    var preamble = "Rule " + random.nextInt(12) + ": be brief. ";
    var body =
        """
        {"messages": [{"role": "system", "content": "%s"},
                      {"role": "user", "content": "What is a %s?"}], "max_tokens": %s%s}\
        """
            .formatted(
                preamble.repeat(4 + random.nextInt(30)),
                WORDS.get(random.nextInt(WORDS.size())),
                1 + random.nextInt(40),
                more);
    return HttpRequest.newBuilder(url)
        .header("content-type", "application/json")
        .timeout(PATIENCE)
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  private void askWhole() throws IOException, InterruptedException {
    var answer = client.send(request(""), BodyHandlers.ofString());
    if (isServed(answer.statusCode(), answer.body())) whole++;
  }

  private void leaveBeforeTheAnswer()
      throws InterruptedException, ExecutionException, TimeoutException {
    var asked = client.sendAsync(request(", \"stream\": true"), BodyHandlers.discarding());
    Thread.sleep(random.nextInt(60));
    asked.cancel(true);
    left++;
  }

  /** Reads so many events, or all there are. */
  private void stream(int events)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    var asked = client.sendAsync(request(", \"stream\": true"), BodyHandlers.ofInputStream());
    var answer = asked.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    try (var body = answer.body()) {
      if (answer.statusCode() != 200) {
        isServed(answer.statusCode(), new String(body.readAllBytes(), StandardCharsets.UTF_8));
      } else if (read(body, events)) {
        whole++;
      } else {
        left++;
      }
    }
  }

  /** Whether the stream was read to its end. */
  private boolean read(InputStream body, int events) throws IOException {
    var reader = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    int seen = 0;
    for (var line = reader.readLine(); line != null; line = reader.readLine()) {
      if (line.equals("data: [DONE]")) return true;
      if (line.contains("\"error\"")) wrong.add("caller " + number + " was told " + line);
      if (line.startsWith("data: ") && ++seen >= events) return false;
    }
    wrong.add("caller " + number + ": a stream of " + seen + " events ended without [DONE]");
    return false;
  }

  private boolean isServed(int status, String body) {
    if (status == 200) return true;
    if (status == 429 || status == 503) busy++;
    else wrong.add("caller " + number + ": " + status + " " + body);
    return false;
  }
}
