package dev.kvasir.cli.load;

import dev.kvasir.Nullable;
import dev.kvasir.tools.load.OpenAiTarget;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Options that select the server to load. */
@Command(optionListHeading = "%nServer:%n")
final class TargetOptions {
  private static final String KEY_VARIABLE = "KVASIR_API_KEY";

  @Option(
      names = "--url",
      paramLabel = "URL",
      description = "URL of the server, without /v1 (default: ${DEFAULT-VALUE}).")
  private URI url = URI.create("http://127.0.0.1:8000");

  @Option(
      names = "--model",
      paramLabel = "NAME",
      description = "Model to request (default: the first that the server lists).")
  private String model = "";

  @Option(
      names = "--api",
      paramLabel = "NAME",
      description = "chat or completions (default: ${DEFAULT-VALUE}).")
  private String api = "chat";

  @Option(
      names = "--api-key",
      paramLabel = "KEY",
      description = "API key to send (default: the value of $KVASIR_API_KEY).")
  private @Nullable String key;

  @Option(
      names = "--no-ignore-eos",
      description = "Let the model end its answers; needed for servers that refuse ignore_eos.")
  private boolean lengthsAreTheModels;

  @Option(
      names = "--timeout",
      paramLabel = "S",
      description = "Seconds that an answer may take (default: ${DEFAULT-VALUE}).")
  private long timeoutSeconds = 600;

  OpenAiTarget target(Map<String, String> environment) {
    return new OpenAiTarget(
        url,
        style(),
        model,
        key == null ? environment.get(KEY_VARIABLE) : key,
        lengthsAreTheModels ? OpenAiTarget.Lengths.AT_MOST : OpenAiTarget.Lengths.FORCED);
  }

  private OpenAiTarget.Style style() {
    return switch (api) {
      case "chat" -> OpenAiTarget.Style.CHAT;
      case "completions" -> OpenAiTarget.Style.COMPLETIONS;
      default -> throw new IllegalArgumentException("--api " + api + "; it is chat or completions");
    };
  }

  Duration timeout() {
    if (timeoutSeconds < 1) throw new IllegalArgumentException("--timeout " + timeoutSeconds);
    return Duration.ofSeconds(timeoutSeconds);
  }
}
