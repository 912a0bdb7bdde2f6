package dev.kvasir.sim.calibrate;

import dev.kvasir.Nullable;
import dev.kvasir.sim.trace.Capture;
import dev.kvasir.sim.trace.Captured;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;

/**
 * Takes apart what captures hold, by server, and refuses or weighs down what would mislead a fit.
 *
 * <pre>
 *   several runs in a file, times that run back, too few requests,
 *   other models, GPUs or engines, an overload that had no end       refused, with the reason
 *   few requests                                                     counts less
 *   requests without times, or without an answer                     left out, and counted
 * </pre>
 */
final class CaptureCheck {
  /** With fewer nothing can be told. */
  static final int REQUESTS_MIN = 20;

  private static final int REQUESTS_FEW = 40;
  private static final int QUARTERS = 4;
  private static final double GROWN = 4;
  private static final double LATE_NANOS = 1e9;

  /** Settings of a capture that say what was served, and on what. */
  private static final List<String> ALIKE =
      List.of(
          "hardware.model",
          "hardware.model-config",
          "hardware.gpu",
          "hardware.tp",
          "hardware.engine",
          "hardware.engine-version");

  private final @Nullable Limits statedLimits;
  private final List<String> notes = new ArrayList<>();
  private final SequencedMap<String, Statement> statements = new LinkedHashMap<>();

  /** Statement of a capture about its deployment. */
  private record Statement(String capture, String value) {}

  CaptureCheck(@Nullable Limits limits) {
    this.statedLimits = limits;
  }

  /** Returns what was found on the way, for whoever calibrates. */
  List<String> notes() {
    return List.copyOf(notes);
  }

  /** The servers of all captures that can be fitted. */
  List<Served> servers(List<Calibration.Input> inputs) {
    var servers = new ArrayList<Served>();
    int requests = 0;
    for (var input : inputs) {
      requireAlike(input);
      for (var each : servers(input.name(), input.capture())) {
        servers.add(each);
        requests += each.requests().size();
      }
    }
    if (requests < REQUESTS_MIN) {
      throw new CalibrationError(
          requests
              + " answered requests are too few for a profile; capture "
              + REQUESTS_MIN
              + " or more");
    }
    return servers;
  }

  private void requireAlike(Calibration.Input input) {
    var texts = texts(input.capture());
    for (var key : ALIKE) {
      var value = texts.get(key);
      if (value == null) continue;
      var before = statements.putIfAbsent(key, new Statement(input.name(), value));
      if (before == null || before.value.equals(value)) continue;
      throw new CalibrationError(
          "%s has %s %s, and %s has %s: a profile is of one deployment; calibrate each by itself"
              .formatted(input.name(), key, value, before.capture, before.value));
    }
  }

  private List<Served> servers(String name, Capture capture) {
    if (capture.runs() > 1) {
      throw new CalibrationError(
          name + " holds " + capture.runs() + " runs; capture each into a file of its own");
    }
    var byInstance = new LinkedHashMap<String, List<Captured>>();
    int left = 0;
    for (var each : capture.requests()) {
      if (each.ttftNanos() == 0 || each.e2eNanos() == 0 || each.request().outputTokens() < 1) {
        left++;
        continue;
      }
      if (each.e2eNanos() < each.ttftNanos()) {
        throw new CalibrationError(
            "%s: the times of %s run back, first token after %d us, last after %d; remove the line"
                .formatted(
                    name, each.request().id(), each.ttftNanos() / 1000, each.e2eNanos() / 1000));
      }
      byInstance.computeIfAbsent(each.instance(), _ -> new ArrayList<>()).add(each);
    }
    if (left > 0) {
      notes.add("%s: %d requests without times or answers are left out".formatted(name, left));
    }
    for (var note : capture.notes()) notes.add(name + ": " + note);
    var servers = new ArrayList<Served>();
    for (var each : byInstance.sequencedEntrySet()) {
      var source = byInstance.size() == 1 ? name : name + " at " + each.getKey();
      servers.add(server(source, each.getValue(), capture));
    }
    return servers;
  }

  private Served server(String source, List<Captured> requests, Capture capture) {
    requireEnd(source, requests);
    double weight = 1;
    if (requests.size() < REQUESTS_FEW) {
      weight = Math.max(0.1, requests.size() / (double) REQUESTS_FEW);
      notes.add("%s: only %d requests, which count less".formatted(source, requests.size()));
    }
    return new Served(source, requests, limits(source, requests, capture), weight);
  }

  /**
   * Refuses a capture in which waits grow up to the end, since nobody measured how far they would
   * grow.
   */
  private static void requireEnd(String source, List<Captured> requests) {
    if (requests.size() < REQUESTS_MIN) return;
    var medians = new double[QUARTERS];
    for (int i = 0; i < QUARTERS; i++) {
      var times =
          requests
              .subList(requests.size() * i / QUARTERS, requests.size() * (i + 1) / QUARTERS)
              .stream()
              .mapToDouble(Captured::ttftNanos)
              .toArray();
      Arrays.sort(times);
      medians[i] = Spread.quantile(times, 0.5);
    }
    for (int i = 1; i < QUARTERS; i++) if (medians[i] < 1.3 * medians[i - 1]) return;
    double last = medians[QUARTERS - 1];
    if (last < GROWN * medians[0] || last < LATE_NANOS) return;
    throw new CalibrationError(
        String.format(
            Locale.ROOT,
            "%s: the server was overloaded to the end: first tokens came after %.1f s in the first"
                + " quarter and after %.1f s in the last; capture a load that it can carry",
            source,
            medians[0] / 1e9,
            last / 1e9));
  }

  /** As it was said, as the capture says it, or as its requests show it. */
  private Limits limits(String source, List<Captured> requests, Capture capture) {
    var base = statedLimits == null ? Limits.USUAL : statedLimits;
    var settings = texts(capture);
    var limits =
        new Limits(
            number(settings.get("engines.sequences-max"), base.sequencesMax()),
            number(settings.get("engines.step-tokens-max"), base.stepTokensMax()),
            number(settings.get("engines.total-kv-blocks"), base.blocks()),
            number(settings.get("engines.block-size"), base.blockTokens()));
    var seen = KvEstimate.of(requests, limits.blockTokens());
    boolean isKnown = limits.isMemoryKnown();
    if (seen.isFull() && (!isKnown || seen.contradicts(limits.blocks()))) {
      notes.add(
          String.format(
              Locale.ROOT,
              "%s: KV memory of about %,d blocks, by what requests held when it was full",
              source,
              seen.peakBlocks()));
      return limits.withBlocks(seen.peakBlocks());
    }
    if (!isKnown) {
      notes.add(
          String.format(
              Locale.ROOT,
              "%s: KV memory was never full; it has %,d blocks or more",
              source,
              seen.peakBlocks()));
    }
    return seen.contradicts(limits.blocks()) ? limits.withBlocks(seen.peakBlocks()) : limits;
  }

  /** Returns what a capture says of its deployment, by the paths of a file. */
  private static SequencedMap<String, String> texts(Capture capture) {
    var deployment = capture.deployment();
    return deployment == null ? new LinkedHashMap<>() : deployment.texts();
  }

  private static int number(@Nullable String text, int otherwise) {
    if (text == null) return otherwise;
    try {
      int value = Integer.parseInt(text);
      return value == 0 ? otherwise : value;
    } catch (NumberFormatException e) {
      throw new CalibrationError("a capture says '" + text + "' where a number belongs");
    }
  }
}
