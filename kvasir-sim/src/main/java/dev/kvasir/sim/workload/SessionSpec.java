package dev.kvasir.sim.workload;

import dev.kvasir.spec.Section;
import java.time.Duration;
import java.util.List;

/**
 * The shape of conversations.
 *
 * @param rounds how many questions a conversation has
 */
public record SessionSpec(LengthSpec rounds, Think think, Growth growth) {
  /** Text that a question has before it. */
  public enum Growth {
    /** All that was said in the conversation so far. */
    ACCUMULATE,
    /** Nothing but the shared prefix. */
    FRESH
  }

  /** Time for which callers think between an answer and the next question. */
  public sealed interface Think {
    long nanos(Chance chance);

    /** Always as long. */
    record Constant(Duration time) implements Think {
      public Constant {
        requireTime(time);
      }

      @Override
      public long nanos(Chance chance) {
        return time.toNanos();
      }
    }

    /** Exponentially distributed. */
    record Exponential(Duration mean) implements Think {
      public Exponential {
        requireTime(mean);
      }

      @Override
      public long nanos(Chance chance) {
        return Math.round(mean.toNanos() * chance.exponential());
      }
    }

    private static void requireTime(Duration time) {
      if (time.isNegative() || time.compareTo(Duration.ofDays(365)) > 0) {
        throw new IllegalArgumentException("thinks for " + time);
      }
    }
  }

  static SessionSpec read(Section section) {
    return new SessionSpec(LengthSpec.read(section, "rounds"), think(section), growth(section));
  }

  private static Think think(Section section) {
    if (!section.hasSection("think")) {
      return new Think.Constant(section.duration("think", Duration.ZERO));
    }
    return section.section("think").as(SessionSpec::distribution);
  }

  private static Think distribution(Section section) {
    return switch (section.text("distribution")) {
      case "constant" -> new Think.Constant(section.duration("value"));
      case "exponential" -> new Think.Exponential(section.duration("mean"));
      default -> throw section.unknown("distribution", List.of("constant", "exponential"));
    };
  }

  private static Growth growth(Section section) {
    return switch (section.text("context", "accumulate")) {
      case "accumulate" -> Growth.ACCUMULATE;
      case "fresh" -> Growth.FRESH;
      default -> throw section.unknown("context", List.of("accumulate", "fresh"));
    };
  }
}
