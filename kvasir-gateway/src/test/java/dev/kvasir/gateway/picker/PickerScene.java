package dev.kvasir.gateway.picker;

import dev.kvasir.Records;
import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.GatewaySettings;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.net.server.HttpLimits;
import dev.kvasir.net.server.HttpSettings;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** A picker with two workers. */
final class PickerScene implements AutoCloseable {
  static final int BODY_BYTES_MAX = 200_000;
  static final HttpLimits LIMITS =
      Records.with(
          HttpLimits.DEFAULT,
          "bodyBytesMax",
          BODY_BYTES_MAX,
          "bodiesBytesMax",
          10L * BODY_BYTES_MAX);
  static final String CHAT = "/v1/chat/completions";

  final Network network = Network.open(2);
  final HttpClient client = HttpClient.newHttpClient();
  final TalkingWorker first = new TalkingWorker(network, "one");
  final TalkingWorker second = new TalkingWorker(network, "two");
  final Gateway gateway;
  Picker picker;

  PickerScene() {
    this(UnaryOperator.identity());
  }

  PickerScene(UnaryOperator<GatewaySettings> change) {
    var settings =
        GatewaySettings.of(0, List.of(first.worker(), second.worker()))
            .probing(Duration.ofMillis(50));
    gateway = Gateway.start(network, change.apply(settings));
    picker = start(0);
  }

  Picker start(int port) {
    return start(port, LIMITS);
  }

  Picker start(int port, HttpLimits limits) {
    return Picker.start(network, gateway, PickerSettings.at(HttpSettings.local(port).with(limits)));
  }

  <T> T onLoop(Supplier<T> question) {
    var answer = new CompletableFuture<T>();
    gateway.loop().execute(() -> answer.complete(question.get()));
    return answer.join();
  }

  void assertBooksAreEmpty() throws InterruptedException {
    Eventually.ends(() -> picker.streams() > 0);
    var flow = gateway.parts().flow();
    Eventually.ends(() -> onLoop(() -> flow.inFlight() + flow.waiting() + flow.counted()) > 0);
    // The last stream may have come only now.
    Eventually.ends(() -> metric("kvasir_picker_streams") + metric("kvasir_picker_body_bytes") > 0);
  }

  String metrics() {
    return send(HttpRequest.newBuilder(URI.create(gateway.adminUrl() + "/metrics"))).body();
  }

  /** The value of a figure. */
  double metric(String name) {
    return metrics()
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
        .sum();
  }

  HttpResponse<String> send(HttpRequest.Builder request) {
    try {
      return client.send(request.build(), BodyHandlers.ofString());
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    client.close();
    picker.close();
    gateway.close();
    first.close();
    second.close();
    network.close();
  }
}
