package dev.kvasir.live.http;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;

/** Copies of records in which some components differ. */
public final class Records {
  private Records() {}

  /**
   * The record with other values.
   *
   * @param changes names of components, each with its value behind it
   */
  @SuppressWarnings("unchecked")
  public static <R extends Record> R with(R record, Object... changes) {
    var components = List.of(record.getClass().getRecordComponents());
    var names = components.stream().map(RecordComponent::getName).toList();
    try {
      var values = new Object[components.size()];
      for (int i = 0; i < values.length; i++) {
        values[i] = components.get(i).getAccessor().invoke(record);
      }
      for (int i = 0; i < changes.length; i += 2) {
        int at = names.indexOf(changes[i]);
        if (at < 0) throw new IllegalArgumentException(changes[i] + " is none of " + names);
        values[at] = changes[i + 1];
      }
      var types = components.stream().map(RecordComponent::getType).toArray(Class<?>[]::new);
      return (R) record.getClass().getDeclaredConstructor(types).newInstance(values);
    } catch (InvocationTargetException e) {
      throw new IllegalArgumentException(Arrays.toString(changes), e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(record.getClass() + " cannot be copied", e);
    }
  }
}
