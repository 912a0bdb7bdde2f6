package dev.kvasir.cli.config;

import dev.kvasir.Nullable;
import dev.kvasir.spec.Nearest;
import dev.kvasir.spec.SpecError;
import dev.kvasir.spec.Written;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * Makes a record of settings from keys and values: each component has a key of its name.
 *
 * <p>A key that is missing keeps the value of the template. Records check themselves; their errors
 * are reported with the place of the value.
 */
public final class RecordReader {
  private static final String REMEDY = "correct it, see docs/configuration.md";

  private RecordReader() {}

  public static <R extends Record> R read(Written.Keys written, R template) {
    return read("", written, template);
  }

  /** Reads a record that stands below others, whose path ends with a dot. */
  @SuppressWarnings("unchecked") // A record is made of the template's own class.
  public static <R extends Record> R read(String above, Written.Keys written, R template) {
    return (R) record(above, written, template);
  }

  private static Record record(String above, Written.Keys written, Record template) {
    var components = KeyPaths.components(template.getClass());
    refuseUnknown(above, written, Arrays.stream(components).map(KeyPaths::name).toList());
    var values = new @Nullable Object[components.length];
    for (int i = 0; i < components.length; i++) {
      var usual = KeyPaths.value(components[i], template);
      var key = KeyPaths.name(components[i]);
      var value = written.values().get(key);
      values[i] = value == null ? usual : value(above + key, value, components[i], usual);
    }
    return made(above, written, template.getClass(), values);
  }

  private static void refuseUnknown(String above, Written.Keys written, List<String> known) {
    written
        .values()
        .forEach(
            (key, value) -> {
              if (known.contains(key)) return;
              var gone = RemovedSettings.remedy(above + key);
              if (gone != null) {
                throw new SpecError(
                    value.origin().place() + ": " + above + key,
                    "there is no such key any more",
                    gone);
              }
              var near = Nearest.to(key, known).map(word -> "did you mean '" + word + "'?");
              throw new SpecError(
                  value.origin().place() + ": " + above + key,
                  "unknown key '" + key + "'",
                  near.orElse("known keys: " + String.join(", ", known)));
            });
  }

  private static @Nullable Object value(
      String path, Written written, RecordComponent component, @Nullable Object usual) {
    var type = component.getType();
    if (usual instanceof CustomSetting<?> custom) return custom.read(path, written);
    if (type.isRecord()) {
      var template = usual == null ? KeyPaths.template(type) : (Record) usual;
      return record(path + ".", keys(path, written), template);
    }
    if (written instanceof Written.Blank) return usual;
    var element = KeyPaths.element(component.getGenericType());
    return element == null ? single(path, written, type) : list(path, written, element);
  }

  private static Written.Keys keys(String path, Written written) {
    return switch (written) {
      case Written.Keys keys -> keys;
      case Written.Blank(var origin) -> Written.Keys.none(origin);
      case Written.Text _, Written.Items _ -> throw wrong(path, written, "a section");
    };
  }

  private static Object single(String path, Written written, Type type) {
    if (!(written instanceof Written.Text text)) throw wrong(path, written, "a single value");
    try {
      return Values.of(text, type);
    } catch (IllegalArgumentException e) {
      throw error(at(path, written), e);
    }
  }

  /** A list, or its values in one text with commas between them. */
  private static List<Object> list(String path, Written written, Type element) {
    var list = new ArrayList<Object>();
    switch (written) {
      case Written.Items(var values, _) -> {
        for (int i = 0; i < values.size(); i++) {
          var at = path + "[" + i + "]";
          var value = values.get(i);
          list.add(
              element instanceof Class<?> type && type.isRecord()
                  ? record(at + ".", keys(at, value), KeyPaths.template(type))
                  : single(at, value, element));
        }
      }
      case Written.Text(var text, var origin) -> {
        for (var part : text.split(",", -1)) {
          list.add(single(path, new Written.Text(part.strip(), origin), element));
        }
      }
      case Written.Keys _, Written.Blank _ -> throw wrong(path, written, "a list");
    }
    return list;
  }

  private static Record made(
      String above, Written.Keys written, Class<?> type, @Nullable Object[] values) {
    var types =
        Arrays.stream(KeyPaths.components(type))
            .map(RecordComponent::getType)
            .toArray(Class<?>[]::new);
    try {
      return (Record) type.getConstructor(types).newInstance(values);
    } catch (InvocationTargetException e) {
      if (!(e.getCause() instanceof IllegalArgumentException cause)) {
        throw new IllegalStateException(type + " cannot be made", e.getCause());
      }
      throw error(places(above, written), cause);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(type + " is no record of settings", e);
    }
  }

  /** The places of values that do not fit together. */
  private static String places(String above, Written.Keys written) {
    var places = new LinkedHashSet<String>();
    for (var value : written.values().values()) {
      if (!(value instanceof Written.Keys)) places.add(value.origin().place());
    }
    if (places.isEmpty()) places.add(written.origin().place());
    var path = above.isEmpty() ? "" : ": " + above.substring(0, above.length() - 1);
    return String.join(", ", places) + path;
  }

  /** The error of a value or a record; its message may end with a remedy. */
  private static SpecError error(String where, IllegalArgumentException cause) {
    var message = String.valueOf(cause.getMessage());
    int guess = message.endsWith("?") ? message.lastIndexOf("; ") : -1;
    return guess < 0
        ? new SpecError(where, message, REMEDY)
        : new SpecError(where, message.substring(0, guess), message.substring(guess + 2));
  }

  private static SpecError wrong(String path, Written written, String expected) {
    return new SpecError(at(path, written), "this is not " + expected, REMEDY);
  }

  private static String at(String path, Written written) {
    return written.origin().place() + ": " + path;
  }
}
