package dev.kvasir;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;

/**
 * Copies of records in which some components differ, for records of settings with many components.
 *
 * <p>The copy is made by the record's own constructor, so its checks apply.
 */
public final class Records {
  private Records() {}

  /**
   * The record with other values.
   *
   * @param changes names of components, each followed by its value
   */
  @SuppressWarnings("unchecked")
  public static <R extends Record> R with(R record, @Nullable Object... changes) {
    var components = List.of(record.getClass().getRecordComponents());
    var names = components.stream().map(RecordComponent::getName).toList();
    var values = new @Nullable Object[components.size()];
    try {
      for (int i = 0; i < values.length; i++) {
        var accessor = components.get(i).getAccessor();
        accessor.setAccessible(true);
        values[i] = accessor.invoke(record);
      }
      for (int i = 0; i < changes.length; i += 2) {
        int at = names.indexOf(changes[i]);
        if (at < 0) throw new IllegalArgumentException(changes[i] + " is none of " + names);
        values[at] = changes[i + 1];
      }
      var types = components.stream().map(RecordComponent::getType).toArray(Class<?>[]::new);
      var constructor = record.getClass().getDeclaredConstructor(types);
      constructor.setAccessible(true);
      return (R) constructor.newInstance(values);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException refusal) throw refusal;
      throw new IllegalStateException(Arrays.toString(changes), e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(record.getClass() + " cannot be copied", e);
    }
  }
}
