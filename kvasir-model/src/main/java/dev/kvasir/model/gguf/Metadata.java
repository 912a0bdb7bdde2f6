package dev.kvasir.model.gguf;

import dev.kvasir.Nullable;
import dev.kvasir.text.UnsupportedText;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/** The metadata of a GGUF file by key; each value is requested with its expected type. */
public final class Metadata {
  private static final String REMEDY = "convert the model again with a current converter";

  private final Path path;
  private final SequencedMap<String, Object> values;

  Metadata(Path path, SequencedMap<String, Object> values) {
    this.path = path;
    this.values = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(values));
  }

  public boolean has(String key) {
    return values.containsKey(key);
  }

  public String text(String key) throws ModelFileException {
    return optionalText(key).orElseThrow(() -> missing(key));
  }

  public Optional<String> optionalText(String key) throws ModelFileException {
    var value = values.get(key);
    if (value == null) return Optional.empty();
    if (value instanceof String text) return Optional.of(text);
    throw wrong(key, value, "a text");
  }

  /** A whole number within the bounds. */
  public int number(String key, int min, int max) throws ModelFileException {
    var value = values.get(key);
    if (value == null) throw missing(key);
    if (value instanceof Long number && number >= min && number <= max) return number.intValue();
    throw wrong(key, value, "a whole number from " + min + " to " + max);
  }

  /** The same, or another number where the file has none. */
  public int number(String key, int min, int max, int otherwise) throws ModelFileException {
    return has(key) ? number(key, min, max) : otherwise;
  }

  /** A finite number above zero. */
  public float decimal(String key, float otherwise) throws ModelFileException {
    var value = values.get(key);
    if (value == null) return otherwise;
    if (value instanceof Double number && number > 0 && number <= Float.MAX_VALUE) {
      return number.floatValue();
    }
    throw wrong(key, value, "a number above zero");
  }

  public boolean flag(String key) throws ModelFileException {
    var value = values.get(key);
    if (value == null) return false;
    if (value instanceof Boolean flag) return flag;
    throw wrong(key, value, "true or false");
  }

  public List<String> texts(String key) throws ModelFileException {
    var value = values.get(key);
    if (value == null) throw missing(key);
    if (value instanceof List<?> list) return list.stream().map(String.class::cast).toList();
    throw wrong(key, value, "a list of texts");
  }

  /** The whole numbers under the key, or null where there are none. */
  public long @Nullable [] optionalNumbers(String key) throws ModelFileException {
    var value = values.get(key);
    if (value == null) return null;
    if (value instanceof long[] numbers) return numbers.clone();
    throw wrong(key, value, "a list of whole numbers");
  }

  private ModelFileException missing(String key) {
    return new ModelFileException(path, "it has no " + key, REMEDY);
  }

  private ModelFileException wrong(String key, Object value, String expected) {
    var found =
        switch (value) {
          case List<?> texts -> "a list of " + texts.size() + " texts";
          case long[] numbers -> "a list of " + numbers.length + " whole numbers";
          case double[] numbers -> "a list of " + numbers.length + " numbers with a fraction";
          default -> UnsupportedText.shown(value.toString());
        };
    return new ModelFileException(path, key + " is " + found + ", expected " + expected, REMEDY);
  }
}
