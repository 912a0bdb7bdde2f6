package dev.kvasir.sim.workload;

import dev.kvasir.Nullable;
import dev.kvasir.spec.Section;
import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * Callers of one kind.
 *
 * @param id names the client, and the random draws that are its own
 * @param arrival when its requests come, or its conversations begin
 * @param input what a question adds to the prompt
 * @param prefix what all its prompts begin with
 * @param sessions null if its requests stand alone
 * @param timeout how long it waits for an answer; zero for ever
 */
public record ClientSpec(
    String id,
    TraceCaller caller,
    ArrivalSpec arrival,
    LengthSpec input,
    LengthSpec output,
    Prefix prefix,
    @Nullable SessionSpec sessions,
    Duration timeout) {
  public ClientSpec {
    if (id.isEmpty() || id.indexOf('/') >= 0) {
      throw new IllegalArgumentException("id '" + id + "', must be a word without /");
    }
    if (timeout.isNegative()) throw new IllegalArgumentException("timeout " + timeout);
  }

  /** The tokens that the prompts of a group begin with. */
  public record Prefix(String group, int tokens) {
    public static final Prefix NONE = new Prefix("", 0);

    public Prefix {
      if (tokens < 0 || tokens > LengthSpec.TOKENS_MAX) {
        throw new IllegalArgumentException("prefix of " + tokens + " tokens");
      }
    }
  }

  ClientSpec times(double factor) {
    return new ClientSpec(
        id, caller, arrival.times(factor), input, output, prefix, sessions, timeout);
  }

  static ClientSpec read(Section section, DoubleSupplier rate) {
    var prefix =
        section.sectionIfAny(
            "prefix", given -> new Prefix(given.text("group"), given.tokens("tokens")));
    return new ClientSpec(
        section.text("id"),
        new TraceCaller(
            section.text("tenant", ""), section.text("class", ""), section.text("model", "")),
        ArrivalSpec.read(section, rate),
        LengthSpec.read(section, "input"),
        LengthSpec.read(section, "output"),
        prefix == null ? Prefix.NONE : prefix,
        section.sectionIfAny("sessions", SessionSpec::read),
        section.duration("timeout", Duration.ZERO));
  }
}
