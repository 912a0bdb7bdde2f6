package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * The options of BLIS, and what they stand for here.
 *
 * <p>They are taken under {@code --compat blis}, and those of the document on the tiered cache also
 * under {@code --transfer-model step}. Each becomes an option or a {@code --set} of today before
 * anything else looks at the command line.
 */
public final class CompatNames {
  private static final Map<String, Name> NAMES = names();

  /** Those of the document on the tiered cache. */
  private static final Set<String> TIERED =
      new LinkedHashSet<>(
          List.of(
              "kv-cpu-blocks",
              "kv-offload-threshold",
              "kv-transfer-bandwidth",
              "kv-transfer-base-latency"));

  private CompatNames() {}

  /**
   * Meaning of an option.
   *
   * @param option an option of today; null where it stands for a key
   * @param key a key of the deployment, or one of {@code blis}
   * @param fixed what a flag stands for; null where a value follows
   */
  private record Name(
      @Nullable String option, String key, @Nullable String fixed, UnaryOperator<String> value) {}

  private static Map<String, Name> names() {
    var names = new LinkedHashMap<String, Name>();
    option(names, "trace-data", "trace");
    option(names, "results-path", "requests-out");
    option(names, "num-instances", "instances");
    option(names, "routing-policy", "routing");
    option(names, "block-size-in-tokens", "block-size");
    option(names, "model-config-folder", "model-config");
    option(names, "kv-cpu-blocks", "host-blocks");
    option(names, "kv-disk-blocks", "disk-blocks");
    option(names, "scenario", "config");
    key(names, "max-num-seqs", "engines.sequences-max");
    key(names, "max-num-running-reqs", "engines.sequences-max");
    key(names, "max-num-batched-tokens", "engines.step-tokens-max");
    key(names, "max-num-scheduled-tokens", "engines.step-tokens-max");
    key(names, "long-prefill-token-threshold", "engines.chunk-tokens-max");
    key(names, "max-model-len", "engines.context-tokens-max");
    key(names, "scheduler", "engines.scheduler", CompatNames::scheduler);
    key(names, "preemption-policy", "engines.preemption", CompatNames::preemption);
    key(names, "planning", "engines.planning");
    key(names, "planning-cost", "engines.planning-cost", value -> seconds(value, 9));
    flag(names, "shared-tiers", "engines.sharing", "tiers");
    flag(names, "take-turns", "engines.sharing", "processor");
    tiers(names);
    routing(names);
    hardware(names);
    requests(names);
    blis(names);
    return names;
  }

  private static void tiers(Map<String, Name> names) {
    for (var kind : List.of("remote", "object")) {
      key(names, "kv-" + kind + "-blocks", "tiers." + kind + ".blocks");
    }
    for (var kind : List.of("host", "disk", "remote", "object")) {
      key(names, "kv-" + kind + "-link", "tiers." + kind + ".link");
      key(names, "kv-" + kind + "-latency", "tiers." + kind + ".latency", CompatNames::micros);
    }
    key(names, "kv-transfer-base-latency", "simulation.step.latency", CompatNames::micros);
    key(names, "kv-transfer-bandwidth", "simulation.step.tokens-per-microsecond");
    key(names, "kv-offload-threshold", "simulation.step.offload-threshold");
    key(names, "kv-bytes-per-token", "hardware.kv-bytes-per-token");
  }

  private static void routing(Map<String, Name> names) {
    key(names, "routing-scorers", "routing.scorers");
    key(names, "warm-tokens", "routing.warm-tokens-max");
    key(names, "heavy-tokens", "routing.heavy-tokens-min");
    key(names, "prefill-throughput", "routing.prefill.throughput");
    key(names, "placements-max", "routing.prefill.placements-max");
    key(names, "dedicated-placements-max", "routing.prefill.dedicated-placements-max");
    key(names, "overload-factor", "routing.prefill.overload-factor");
    key(names, "session-patience", "routing.session-patience", CompatNames::millis);
    key(names, "pd-transfer-bandwidth", "hardware.transfer-rate");
    key(names, "pd-transfer-base-latency", "hardware.transfer-latency", CompatNames::millis);
    key(names, "admission-policy", "limits.admission.policy");
    key(names, "token-bucket-capacity", "limits.admission.bucket-capacity");
    key(names, "token-bucket-refill-rate", "limits.admission.bucket-rate");
    key(names, "tier-shed-threshold", "limits.admission.shed-threshold");
    key(names, "tier-shed-min-priority", "limits.admission.shed-priority");
  }

  private static void hardware(Map<String, Name> names) {
    key(names, "alpha-coeffs", "hardware.alpha-coeffs");
    key(names, "beta-coeffs", "hardware.beta-coeffs");
    key(names, "model", "hardware.model");
    key(names, "hardware-config", "hardware.table");
    key(names, "gpu-memory-utilization", "hardware.memory-utilization");
    key(names, "slo-attainment", "slo.attainment");
    key(names, "cost-per-gpu-hour", "cost.gpu-hour");
    for (var kind : List.of("host", "disk", "remote", "object")) {
      key(names, "cost-per-" + kind + "-gib-hour", "cost." + kind + "-gib-hour");
    }
    key(names, "cost-per-1000-object-writes", "cost.object-writes");
    key(names, "cost-per-1000-object-reads", "cost.object-reads");
    key(names, "object-request-blocks", "cost.object-request-blocks");
  }

  private static void requests(Map<String, Name> names) {
    key(names, "time-scale", "simulation.time-scale");
    key(names, "trace-header", "simulation.header");
    key(names, "session-mode", "simulation.sessions", CompatNames::sessions);
    key(names, "think-time-ms", "simulation.think-time", CompatNames::millis);
    key(names, "horizon", "simulation.horizon", CompatNames::micros);
  }

  private static void blis(Map<String, Name> names) {
    for (var name :
        List.of(
            "snapshot-refresh-interval",
            "cache-signal-delay",
            "admission-latency",
            "routing-latency",
            "policy-config",
            "go-rng-table",
            "ties",
            "trace-level",
            "counterfactual-k")) {
      key(names, name, "blis." + name);
    }
    flag(names, "summarize-trace", "blis.summarize-trace", "yes");
  }

  private static void option(Map<String, Name> names, String name, String today) {
    names.put(name, new Name(today, "", null, value -> value));
  }

  private static void key(Map<String, Name> names, String name, String key) {
    key(names, name, key, value -> value);
  }

  private static void key(
      Map<String, Name> names, String name, String key, UnaryOperator<String> value) {
    names.put(name, new Name(null, key, null, value));
  }

  private static void flag(Map<String, Name> names, String name, String key, String fixed) {
    names.put(name, new Name(null, key, fixed, value -> value));
  }

  private static String micros(String value) {
    return seconds(value, 6);
  }

  private static String millis(String value) {
    return seconds(value, 3);
  }

  /**
   * So many digits behind the point of a second; what is no number is left for others to refuse.
   */
  private static String seconds(String value, int digits) {
    try {
      return new BigDecimal(value).movePointLeft(digits).toPlainString() + "s";
    } catch (NumberFormatException _) {
      return value;
    }
  }

  static String scheduler(String name) {
    return switch (name) {
      case "fcfs" -> "first-come";
      case "priority-fcfs" -> "priority";
      case "sjf" -> "shortest-prompt";
      default -> name;
    };
  }

  static String preemption(String name) {
    return switch (name) {
      case "fcfs" -> "newest";
      case "priority" -> "least-urgent";
      default -> name;
    };
  }

  private static String sessions(String name) {
    return switch (name) {
      case "open", "fixed" -> "recorded";
      default -> name;
    };
  }

  /** Returns what to use instead of an option that is accepted only under {@code --compat blis}. */
  public static @Nullable String today(String option) {
    var name = NAMES.get(bare(option));
    if (name == null || name.key().startsWith("blis.")) return null;
    if (name.option() != null) return "--" + name.option();
    return "--set " + name.key() + "=" + (name.fixed() == null ? "VALUE" : name.fixed());
  }

  /** The command line with options of today alone. */
  public static String[] rewritten(String[] line) {
    if (line.length == 0 || !line[0].equals("simulate")) return line;
    boolean isBlis = gives(line, "compat", "blis");
    if (!isBlis && !gives(line, "transfer-model", "step")) return line;
    return new Rewriting(isBlis ? NAMES.keySet() : TIERED).of(line);
  }

  private static boolean gives(String[] line, String option, String value) {
    for (int i = 1; i < line.length; i++) {
      if (line[i].equals("--" + option + "=" + value)) return true;
      if (line[i].equals(value) && line[i - 1].equals("--" + option)) return true;
    }
    return false;
  }

  private static String bare(String option) {
    int equals = option.indexOf('=');
    var name = equals < 0 ? option : option.substring(0, equals);
    return name.startsWith("--") ? name.substring(2) : "";
  }

  /** One command line on its way. */
  private static final class Rewriting {
    private final Set<String> supported;
    private final List<String> words = new ArrayList<>();
    private final Set<String> sharing = new LinkedHashSet<>();

    Rewriting(Set<String> supported) {
      this.supported = supported;
    }

    String[] of(String[] line) {
      for (int i = 0; i < line.length; i++) {
        var name = bare(line[i]);
        var known = supported.contains(name) ? NAMES.get(name) : null;
        int equals = line[i].indexOf('=');
        if (name.equals("sweep") && equals < 0 && i + 1 < line.length) {
          words.add(line[i]);
          words.add(sweep(line[++i]));
        } else if (known == null) {
          words.add(line[i]);
        } else if (known.fixed() != null) {
          flag(known.key(), known.fixed());
        } else if (known.option() != null) {
          words.add("--" + known.option() + (equals < 0 ? "" : line[i].substring(equals)));
        } else if (equals >= 0) {
          set(known.key(), known.value().apply(line[i].substring(equals + 1)));
        } else if (i + 1 < line.length) {
          set(known.key(), known.value().apply(line[++i]));
        } else {
          words.add(line[i]);
        }
      }
      if (!sharing.isEmpty()) set("engines.sharing", String.join(",", sharing));
      return words.toArray(String[]::new);
    }

    private void flag(String key, String value) {
      if (key.equals("engines.sharing")) sharing.add(value);
      else set(key, value);
    }

    private void set(String key, String value) {
      words.add("--set");
      words.add(key + "=" + value);
    }

    private String sweep(String text) {
      int equals = text.indexOf('=');
      var known = equals < 0 ? null : NAMES.get(text.substring(0, equals));
      if (known == null || known.fixed() != null) return text;
      var name = known.option() == null ? known.key() : known.option();
      var values = new ArrayList<String>();
      for (var value : text.substring(equals + 1).split(",", -1)) {
        values.add(known.value().apply(value));
      }
      return name + "=" + String.join(",", values);
    }
  }
}
