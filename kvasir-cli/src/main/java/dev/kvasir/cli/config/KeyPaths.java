package dev.kvasir.cli.config;

import dev.kvasir.Nullable;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** The keys that a record of settings has, and those of the records in it. */
public final class KeyPaths {
  private static final String TEMPLATE = "DEFAULT";

  /** Cached, since a class makes new components and accessors for each call. */
  private static final ClassValue<RecordComponent[]> COMPONENTS =
      new ClassValue<>() {
        @Override
        protected RecordComponent[] computeValue(Class<?> type) {
          return type.getRecordComponents();
        }
      };

  private KeyPaths() {}

  /**
   * One key.
   *
   * @param path the keys from the top, with dots between them; [] stands for each of a list
   * @param kind what may be written
   * @param usual the default; empty for none
   */
  public record Key(String path, String kind, String usual) {
    /** The variable of the environment that stands for it. */
    public String variable() {
      return "KVASIR_" + path.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    /**
     * Returns whether the key belongs to the elements of a list, so that no variable can stand for
     * it.
     */
    public boolean isOfList() {
      return path.contains("[]");
    }
  }

  /** All keys of the record, in its order; the values of the record are the defaults. */
  public static List<Key> of(Record template) {
    return of("", template);
  }

  /** All keys of a record that stands below others, whose path ends with a dot. */
  public static List<Key> of(String above, Record template) {
    var keys = new ArrayList<Key>();
    add(keys, above, template);
    return keys;
  }

  /** The keys whose values differ; a list is one key. */
  public static List<String> different(Record one, Record other) {
    var keys = new ArrayList<String>();
    addDifferent(keys, "", one, other);
    return keys;
  }

  private static void addDifferent(List<String> keys, String above, Record one, Record other) {
    for (var component : components(one.getClass())) {
      var path = above + name(component);
      var first = value(component, one);
      var second = value(component, other);
      if (Objects.equals(first, second)) continue;
      if (first instanceof Record section
          && !(first instanceof CustomSetting<?>)
          && second instanceof Record changed) {
        addDifferent(keys, path + ".", section, changed);
      } else {
        keys.add(path);
      }
    }
  }

  /** The keys of the record itself. */
  public static List<String> names(Record template) {
    return Arrays.stream(components(template.getClass())).map(KeyPaths::name).toList();
  }

  private static void add(List<Key> keys, String above, Record template) {
    for (var component : components(template.getClass())) {
      var path = above + name(component);
      var type = component.getGenericType();
      var value = value(component, template);
      if (value instanceof CustomSetting<?> custom) {
        keys.addAll(custom.keys(path));
      } else if (component.getType().isRecord()) {
        add(keys, path + ".", value == null ? template(component.getType()) : (Record) value);
      } else if (element(type) instanceof Class<?> each && each.isRecord()) {
        add(keys, path + "[].", template(each));
      } else {
        keys.add(new Key(path, Values.kind(type), Values.text(value)));
      }
    }
  }

  /** Those of a class of records; nobody changes the array. */
  static RecordComponent[] components(Class<?> type) {
    return COMPONENTS.get(type);
  }

  /** A component's key: small letters, with hyphens between the words. */
  static String name(RecordComponent component) {
    var words = component.getName();
    var key = new StringBuilder(words.length() + 4);
    for (int i = 0; i < words.length(); i++) {
      char letter = words.charAt(i);
      if (letter >= 'A' && letter <= 'Z') key.append('-').append((char) (letter + 'a' - 'A'));
      else key.append(letter);
    }
    return key.toString();
  }

  static @Nullable Object value(RecordComponent component, Record of) {
    try {
      return component.getAccessor().invoke(of);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(component + " cannot be read", e);
    }
  }

  /** The defaults of an optional section. */
  static Record template(Class<?> type) {
    try {
      return (Record) type.getField(TEMPLATE).get(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(type + " has no " + TEMPLATE, e);
    }
  }

  /** Returns the type of the elements of a list, or null if the type is not a list. */
  static @Nullable Type element(Type type) {
    return type instanceof ParameterizedType list && list.getRawType() == List.class
        ? list.getActualTypeArguments()[0]
        : null;
  }
}
