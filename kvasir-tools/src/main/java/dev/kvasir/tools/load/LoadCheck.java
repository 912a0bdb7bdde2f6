package dev.kvasir.tools.load;

import dev.kvasir.net.Network;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Checks before a load whether the server is usable. */
public sealed interface LoadCheck {
  /**
   * It can be, for this model, whose context has so many tokens; 0 where the server does not tell.
   */
  record Ready(String model, int contextTokens) implements LoadCheck {}

  /** It cannot be; the message says what to do. */
  record Unusable(String message) implements LoadCheck {}

  /** Asks for the server's models; an empty one in the target means the first there is. */
  static LoadCheck of(Network network, OpenAiTarget target, Duration patience) {
    var client = new OpenAiClient(network, target, 1, patience, System::nanoTime);
    var models = client.models().toCompletionStage().toCompletableFuture();
    try {
      return choose(target, models.get(patience.toMillis(), TimeUnit.MILLISECONDS));
    } catch (ExecutionException e) {
      return unusable(target, e.getCause() == null ? e : e.getCause());
    } catch (TimeoutException e) {
      return new Unusable(
          "no answer from " + target.url() + " within " + patience.toSeconds() + " s");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Unusable("interrupted");
    }
  }

  private static LoadCheck choose(OpenAiTarget target, Map<String, Integer> models) {
    if (models.isEmpty()) return new Unusable(target.url() + " serves no model");
    var wanted = target.model().isEmpty() ? models.keySet().iterator().next() : target.model();
    if (models.containsKey(wanted)) return new Ready(wanted, models.getOrDefault(wanted, 0));
    return new Unusable(
        target.url()
            + " has no model "
            + wanted
            + "; it has "
            + String.join(", ", models.keySet()));
  }

  private static LoadCheck unusable(OpenAiTarget target, Throwable failure) {
    var url = target.url();
    if (failure instanceof RefusedAnswer refusal) {
      return switch (refusal.status()) {
        case 401, 403 -> new Unusable(url + " wants a key it knows; give one with --api-key");
        case 404 -> new Unusable(url + " has no /v1/models; is it an OpenAI-compatible server?");
        default -> new Unusable(url + " answers " + refusal.status() + ": " + refusal.getMessage());
      };
    }
    var failed = OpenAiClient.failed(failure);
    return switch (failed.kind()) {
      case "connect" -> new Unusable("nothing listens at " + url + "; is the server running?");
      default -> new Unusable("no answer from " + url + ": " + failed.message());
    };
  }
}
