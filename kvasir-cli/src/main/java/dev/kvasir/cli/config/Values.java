package dev.kvasir.cli.config;

import dev.kvasir.Nullable;
import dev.kvasir.net.Secret;
import dev.kvasir.net.machine.Bytes;
import dev.kvasir.spec.Durations;
import dev.kvasir.spec.Nearest;
import dev.kvasir.spec.Written;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Single values, as text and as what they stand for. */
final class Values {
  private Values() {}

  /**
   * Returns the value that the text stands for, or throws an {@link IllegalArgumentException} that
   * says what the text should be.
   */
  static Object of(Written.Text written, Type type) {
    var text = written.text();
    if (type instanceof Class<?> kind && kind.isEnum()) return choice(text, kind);
    return switch (type.getTypeName()) {
      case "int" -> (int) whole(text, Integer.MAX_VALUE, "a whole number");
      case "long", "java.lang.Long" ->
          whole(text, Long.MAX_VALUE, "a whole number, or bytes as in 64GiB or 64GB");
      case "double", "java.lang.Double" -> number(text);
      case "java.lang.String" -> text;
      case "java.time.Duration" -> duration(text);
      case "java.net.URI" -> URI.create(text);
      case "java.nio.file.Path" -> path(written);
      case "dev.kvasir.net.Secret" -> secret(written);
      default -> throw new IllegalStateException("no setting can be of type " + type);
    };
  }

  /** The value as one would write it. */
  static String text(@Nullable Object value) {
    return switch (value) {
      case null -> "";
      case Enum<?> choice -> word(choice);
      case Duration time -> Durations.text(time);
      case List<?> list -> String.join(", ", list.stream().map(Values::text).toList());
      default -> value.toString();
    };
  }

  private static long whole(String text, long most, String expected) {
    try {
      long value = Bytes.parse(text.replace("_", ""));
      if (value >= -most - 1 && value <= most) return value;
    } catch (NumberFormatException | ArithmeticException e) {
      throw new IllegalArgumentException("'" + text + "', expected " + expected, e);
    }
    throw new IllegalArgumentException("'" + text + "', expected at most " + most);
  }

  private static double number(String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("'" + text + "', expected a number", e);
    }
  }

  private static Duration duration(String text) {
    var parsed = Durations.parse(text);
    if (parsed != null) return parsed;
    throw new IllegalArgumentException(
        "'" + text + "', expected a time with its unit (us, ms, s, m, h or d), as in 250ms");
  }

  private static Path path(Written.Text written) {
    var folder = written.origin().folder();
    return folder == null ? Path.of(written.text()) : Path.of(folder).resolve(written.text());
  }

  /** Reads {@code env:NAME}, {@code file:PATH} or the secret itself. */
  private static Secret secret(Written.Text written) {
    var text = written.text();
    try {
      if (text.startsWith(Secret.ENVIRONMENT)) {
        return Secret.fromEnvironment(text.substring(Secret.ENVIRONMENT.length()));
      }
      if (text.startsWith(Secret.FILE)) {
        var named = new Written.Text(text.substring(Secret.FILE.length()), written.origin());
        return Secret.fromFile(path(named));
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot read the secret " + text + ": " + e, e);
    }
    return Secret.of(text);
  }

  private static Object choice(String text, Class<?> kind) {
    var words = new ArrayList<String>();
    for (var constant : kind.getEnumConstants()) {
      var word = word((Enum<?>) constant);
      if (word.equals(text)) return constant;
      words.add(word);
    }
    throw unknown(text, words);
  }

  /** A word that is none of those that may stand there. */
  static IllegalArgumentException unknown(String text, List<String> words) {
    var near = Nearest.to(text, words).map(word -> "; did you mean '" + word + "'?").orElse("");
    return new IllegalArgumentException(
        "'" + text + "', expected one of " + String.join(", ", words) + near);
  }

  private static String word(Enum<?> choice) {
    return choice.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Describes the permitted values in words. */
  static String kind(Type type) {
    if (type instanceof Class<?> kind && kind.isEnum()) {
      return String.join(", ", Arrays.stream(kind.getEnumConstants()).map(Values::text).toList());
    }
    if (type instanceof ParameterizedType) return "list";
    return switch (type.getTypeName()) {
      case "int", "long", "java.lang.Long" -> "whole number";
      case "double", "java.lang.Double" -> "number";
      case "java.time.Duration" -> "time";
      case "java.nio.file.Path" -> "file";
      case "java.net.URI" -> "URL";
      case "dev.kvasir.net.Secret" -> "secret";
      default -> "string";
    };
  }
}
