package dev.kvasir.spec;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** The value of a key as written in a file, in the environment or on the command line. */
public sealed interface Written {
  /**
   * Place where a value stands.
   *
   * @param place a file and a line, a variable or an option
   * @param folder where files lie that are named there; null for the working folder
   */
  record Origin(String place, @Nullable String folder) {
    /** Something that is not in a file. */
    public static Origin of(String place) {
      return new Origin(place, null);
    }
  }

  Origin origin();

  /** A single value. */
  record Text(String text, Origin origin) implements Written {}

  /** A key without a value; it counts as missing. */
  record Blank(Origin origin) implements Written {}

  /** Values in their order. */
  record Items(List<Written> values, Origin origin) implements Written {
    public Items {
      values = List.copyOf(values);
    }

    /** Its single values with commas between them. */
    String text() {
      var texts = new ArrayList<String>();
      for (var value : values) if (value instanceof Text text) texts.add(text.text());
      return String.join(", ", texts);
    }
  }

  /** Values under their keys. */
  record Keys(SequencedMap<String, Written> values, Origin origin) implements Written {
    public static Keys none(Origin origin) {
      return new Keys(new LinkedHashMap<>(), origin);
    }

    /** These keys, overridden by the others. */
    public Keys under(Keys others) {
      var merged = new LinkedHashMap<String, Written>(values);
      others.values.forEach(
          (key, other) ->
              merged.merge(
                  key, other, (low, high) -> high instanceof Keys keys ? keys.over(low) : high));
      return new Keys(merged, origin);
    }

    private Keys over(Written low) {
      return low instanceof Keys keys ? keys.under(this) : this;
    }

    /** Returns whether a value that is not blank is written at the end of the path. */
    public boolean has(String path) {
      int dot = path.indexOf('.');
      if (dot < 0) return values.get(path) != null && !(values.get(path) instanceof Blank);
      return values.get(path.substring(0, dot)) instanceof Keys inner
          && inner.has(path.substring(dot + 1));
    }

    /** All single values by their paths; lists in one text. */
    public SequencedMap<String, String> texts() {
      var texts = new LinkedHashMap<String, String>();
      addTo(texts, "");
      return texts;
    }

    private void addTo(SequencedMap<String, String> texts, String above) {
      values.forEach(
          (key, value) -> {
            switch (value) {
              case Keys inner -> inner.addTo(texts, above + key + ".");
              case Text text -> texts.put(above + key, text.text());
              case Items items -> texts.put(above + key, items.text());
              case Blank _ -> {}
            }
          });
    }

    /** These keys without one of them. */
    public Keys without(String key) {
      var fewer = new LinkedHashMap<String, Written>(values);
      fewer.remove(key);
      return new Keys(fewer, origin);
    }

    /** These, with that value at the end of the path, which has dots between its keys. */
    public Keys with(String path, Written value) {
      int dot = path.indexOf('.');
      if (dot < 0) {
        var one = new LinkedHashMap<String, Written>();
        one.put(path, value);
        return under(new Keys(one, value.origin()));
      }
      var inner = none(value.origin()).with(path.substring(dot + 1), value);
      return with(path.substring(0, dot), inner);
    }
  }
}
