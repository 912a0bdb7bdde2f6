package dev.kvasir.sim.workload;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.sim.Yaml;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SyntheticTest {
  private static final String CHAT = "- {id: chat, rate: 10, input: 256, output: 256}\n";

  private record Moments(double mean, double variance) {
    static <T> Moments of(List<T> values, ToDoubleFunction<T> number) {
      double mean = values.stream().mapToDouble(number).average().orElseThrow();
      double variance =
          values.stream()
              .mapToDouble(value -> StrictMath.pow(number.applyAsDouble(value) - mean, 2))
              .average()
              .orElseThrow();
      return new Moments(mean, variance);
    }

    double cv() {
      return StrictMath.sqrt(variance) / mean;
    }
  }

  /** The tolerance is relative, for 200,000 draws. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          256                                                            |  256 |    0   | 0
          {distribution: uniform, min: 100, max: 300}                    |  200 |   58.02 | 0.01
          {distribution: gaussian, mean: 500, stdev: 50}                 |  500 |   50   | 0.01
          {distribution: gaussian, mean: 500, stdev: 50, max: 500}       |  480 |   29.2 | 0.01
          {distribution: exponential, mean: 1000}                        | 1000 | 1000   | 0.01
          {distribution: lognormal, mean: 1000, stdev: 500}              | 1000 |  500   | 0.02
          {distribution: lognormal, mu: 6, sigma: 0.5}                   |  457.1 | 243.6 | 0.02
          {distribution: empirical, values: [10, 100], weights: [3, 1]}  |   32.5 | 38.97 | 0.01
          {distribution: pareto-lognormal, weight: 0.5, alpha: 4, scale: 300, mu: 6, sigma: 0.5} \
          | 428.6 | 205.7 | 0.03
          """)
  void lengthsHaveTheMeanAndDeviationOfTheirDistribution(
      String yaml, double mean, double deviation, double tolerance) {
    var requests = requests("- {id: a, rate: 10, output: 1, input: " + yaml + "}", 200_000);
    var moments = Moments.of(requests, Request::promptTokens);
    assertThat(moments.mean()).isCloseTo(mean, within(mean * tolerance));
    assertThat(StrictMath.sqrt(moments.variance()))
        .isCloseTo(deviation, within(deviation * tolerance));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {process: poisson}                              | 1
          {process: constant}                             | 0
          {process: gamma, cv: 0.5}                       | 0.5
          {process: gamma, cv: 1}                         | 1
          {process: gamma, cv: 3}                         | 3
          {process: bursts, size: 4}                      | 2.646
          """)
  void gapsHaveTheMeanAndSpreadOfTheirProcess(String yaml, double cv) {
    var requests =
        requests("- {id: a, rate: 20, input: 1, output: 1, arrival: " + yaml + "}", 200_000);
    var gaps = new ArrayList<Long>();
    for (int index = 1; index < requests.size(); index++) {
      gaps.add(requests.get(index).arrivalNanos() - requests.get(index - 1).arrivalNanos());
    }
    var moments = Moments.of(gaps, Long::doubleValue);
    assertThat(moments.mean()).isCloseTo(5e7, within(5e7 * 0.02));
    assertThat(moments.cv()).isCloseTo(cv, within(0.03 * cv + 1e-6));
  }

  @Test
  void ratesChangeOverTime() {
    var steps = "steps: [{from: 100s, rate: 10}, {from: 200s, rate: 0}, {from: 300s, rate: 40}]";
    var yaml =
        "duration: 400s\nclients:\n- {id: a, input: 1, output: 1, arrival: {process: rates, "
            + steps
            + "}}";
    var counts = new int[4];
    for (var request : drain(new Synthetic(spec(yaml)))) {
      counts[(int) (request.arrivalNanos() / 100_000_000_000L)]++;
    }
    assertThat(counts[0]).isZero();
    assertThat(counts[1]).isBetween(900, 1100);
    assertThat(counts[2]).isZero();
    assertThat(counts[3]).isBetween(3800, 4200);
  }

  @Test
  void burstsComeTogether() {
    var requests =
        requests(
            "- {id: a, rate: 1, input: 1, output: 1, arrival: {process: bursts, size: 5,"
                + " spread: 400ms}}",
            50);
    for (int first = 0; first < 50; first += 5) {
      assertThat(requests.get(first + 4).arrivalNanos() - requests.get(first).arrivalNanos())
          .isCloseTo(400_000_000L, within(10L));
    }
  }

  @Test
  void sameSeedGivesTheSameRequestsAndAnotherDoesNot() {
    var yaml = example("chat.yaml");
    var one = drain(new Synthetic(spec(yaml)));
    assertThat(drain(new Synthetic(spec(yaml)))).isEqualTo(one);
    assertThat(drain(new Synthetic(spec(yaml.replace("seed: 42", "seed: 43"))))).isNotEqualTo(one);
  }

  @Test
  void anotherClientChangesNobodyElsesRequests() {
    var alone = requests(CHAT, 1000);
    var both = requests("- {id: other, rate: 3, input: 9, output: 9}\n" + CHAT, 1300);
    var chats = both.stream().filter(request -> request.id().startsWith("chat")).toList();
    assertThat(chats).hasSizeGreaterThan(900);
    assertThat(chats.subList(0, 900)).isEqualTo(alone.subList(0, 900));
  }

  @Test
  void requestsOfAllClientsComeInOrderAndInTheirShares() {
    var requests =
        drain(
            new Synthetic(
                spec(
                    """
                    rate: 100
                    requests: 20000
                    clients:
                    - {id: a, fraction: 0.75, input: 1, output: 1}
                    - {id: b, fraction: 0.25, input: 1, output: 1, tenant: t, class: c, timeout: 2s}
                    """)));
    assertThat(requests)
        .isSortedAccordingTo((a, b) -> Long.compare(a.arrivalNanos(), b.arrivalNanos()));
    var seconds = requests.stream().filter(request -> request.id().startsWith("b")).toList();
    assertThat(seconds.size()).isBetween(4800, 5200);
    assertThat(seconds.getFirst().caller()).isEqualTo(new TraceCaller("t", "c"));
    assertThat(seconds.getFirst().deadlineNanos())
        .isEqualTo(seconds.getFirst().arrivalNanos() + 2_000_000_000L);
  }

  @Test
  void conversationGrowsByQuestionsAndAnswersAndSharesWhatWasSaid() {
    var workload =
        new Synthetic(
            spec(
                """
                requests: 100
                clients:
                - id: a
                  rate: 1
                  input: 100
                  output: 50
                  prefix: {group: g, tokens: 64}
                  sessions: {rounds: 3, think: 2s}
                """));
    var first = requireNonNull(workload.next());
    var second = requireNonNull(workload.after(first, 10_000_000_000L));
    var third = requireNonNull(workload.after(second, 20_000_000_000L));
    assertThat(workload.after(third, 30_000_000_000L)).isNull();
    assertThat(List.of(first, second, third))
        .extracting(Request::promptTokens)
        .containsExactly(164, 314, 464);
    assertThat(second.arrivalNanos()).isEqualTo(12_000_000_000L);
    assertThat(third.turn()).isEqualTo(new Turn("a/0", 2, 2_000_000_000L));
    assertThat(third.content()).isEqualTo(first.content());
    assertThat(requireNonNull(workload.next()).content()).isNotEqualTo(first.content());
  }

  @Test
  void freshQuestionsShareOnlyThePrefix() {
    var workload =
        new Synthetic(
            spec(
                """
                requests: 100
                clients:
                - id: a
                  rate: 1
                  input: 100
                  output: 50
                  prefix: {group: g, tokens: 64}
                  sessions: {rounds: 3, context: fresh}
                """));
    var first = requireNonNull(workload.next());
    var second = requireNonNull(workload.after(first, 10_000_000_000L));
    assertThat(second.promptTokens()).isEqualTo(164);
    assertThat(second.content().names(64, 0).next()).isEqualTo(first.content().names(64, 0).next());
    assertThat(second.content().names(65, 0).next())
        .isNotEqualTo(first.content().names(65, 0).next());
  }

  @Test
  void orderOfAnswersChangesNoQuestion() {
    var yaml = example("chat.yaml");
    var one = new Synthetic(spec(yaml));
    var other = new Synthetic(spec(yaml));
    var firsts = new ArrayList<Request>();
    while (firsts.size() < 20) {
      var request = requireNonNull(one.next());
      assertThat(other.next()).isEqualTo(request);
      if (!request.turn().isAlone()) firsts.add(request);
    }
    var forth = firsts.stream().map(first -> one.after(first, 100_000_000_000L)).toList();
    var back =
        firsts.reversed().stream().map(first -> other.after(first, 100_000_000_000L)).toList();
    assertThat(back.reversed()).isEqualTo(forth);
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat.yaml", "day.yaml"})
  void examplesAreRead(String name) {
    var requests = drain(new Synthetic(spec(example(name))));
    assertThat(requests).hasSizeGreaterThan(1000);
    assertThat(requests.stream().map(Request::id).distinct()).hasSameSizeAs(requests);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          request: 5                                   | request: unknown key 'request'; did you mean 'requests'?
          requests: many                               | requests: this is 'many'; it must be a whole number
          requests: 0                                  | at most 0
          duration: 5                                  | duration: this is '5'; it must be a time with its unit
          rate: x                                      | rate: this is 'x'; it must be a number
          """)
  void wrongKeysAndValuesAreNamed(String line, String message) {
    assertThatThrownBy(() -> spec(line + "\nclients:\n" + CHAT)).hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          {rate: 1, input: 1, output: 1}                       | clients[0]: there is no 'id'
          {id: a, input: 1, output: 1}                         | clients[0]: there is no rate
          {id: a, rate: 0, input: 1, output: 1}                | rate 0.0, must be
          {id: a, rate: 1, inputs: 1, output: 1}               | is 'inputs' meant to be it?
          {id: a, rate: 1, output: 1}                          | there is no 'input'
          {id: a, rate: 1, input: -1, output: 1}               | clients[0].input: this is '-1'
          {id: a, rate: 1, input: {distribution: gausian}, output: 1} | did you mean 'gaussian'?
          {id: a, rate: 1, input: {distribution: constant, value: 1, stdev: 2}, output: 1} | clients[0].input.stdev: unknown key 'stdev'
          {id: a, rate: 1, input: 1, output: 1, arrival: {process: poison}} | did you mean 'poisson'?
          {id: a, rate: 1, input: 1, output: 1, arrival: {process: poisson, cv: 2}} | unknown key 'cv'
          {id: a, rate: 1, input: 1, output: 1, arrival: {process: gamma, cv: 0}} | cv 0.0
          {id: a, rate: 1, input: 1, output: 1, sessions: {rounds: 2, context: old}} | 'context' is 'old'
          {id: a/b, rate: 1, input: 1, output: 1}              | must be a word without /
          {id: a, rate: 1, input: 1, output: 1, prefix: 5}     | clients[0].prefix: there are no keys
          """)
  void wrongClientsAreNamed(String client, String message) {
    assertThatThrownBy(() -> spec("requests: 5\nclients:\n- " + client))
        .hasMessageContaining(message);
  }

  @Test
  void workloadsThatMakeNoSenseAreRefused() {
    assertThatThrownBy(() -> spec("clients:\n" + CHAT)).hasMessageContaining("never ends");
    assertThatThrownBy(() -> spec("requests: 1\nclients: []\n")).hasMessageContaining("no clients");
    assertThatThrownBy(() -> spec("requests: 1\nclients:\n" + CHAT + CHAT))
        .hasMessageContaining("two clients are called 'chat'");
    var half = CHAT.replace("rate: 10", "fraction: 0.5");
    assertThatThrownBy(() -> spec("rate: 1\nrequests: 1\nclients:\n" + half))
        .hasMessageContaining("add up to 0.5");
  }

  private static List<Request> requests(String clients, int count) {
    return drain(new Synthetic(spec("requests: " + count + "\nclients:\n" + clients)));
  }

  private static WorkloadSpec spec(String yaml) {
    return Yaml.section(yaml).as(WorkloadSpec::read);
  }

  private static String example(String name) {
    try {
      return Files.readString(Path.of("..", "examples", "workloads", name));
    } catch (IOException missing) {
      throw new AssertionError(name, missing);
    }
  }

  private static List<Request> drain(Workload workload) {
    var requests = new ArrayList<Request>();
    var open = new ArrayDeque<Request>();
    for (var request = workload.next(); request != null; request = workload.next()) {
      requests.add(request);
      open.add(request);
    }
    while (!open.isEmpty()) {
      var answered = open.remove();
      var next = workload.after(answered, answered.arrivalNanos() + 1_000_000_000L);
      if (next == null) continue;
      requests.add(next);
      open.add(next);
    }
    return requests;
  }
}
