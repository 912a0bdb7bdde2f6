package dev.kvasir.text.template;

import dev.kvasir.Nullable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The variables at one place of a template while it is rendered, and the remaining budget. */
final class Scope {
  /** The limits of a template for one prompt. */
  static final class Budget {
    private static final int STEPS_MAX = 2_000_000;
    private static final int LETTERS_MAX = 64 << 20;

    /** Letters of all the texts that operations may make for one prompt; most are not kept. */
    private static final long MADE_MAX = 4L * LETTERS_MAX;

    /** An item of a list takes about as much memory as so many letters. */
    private static final int ITEM_LETTERS = 8;

    private int steps;
    private long made;

    void step() throws TemplateFailure {
      if (++steps > STEPS_MAX) throw new TemplateFailure("the template does not come to an end");
    }

    /** Counts a value that an operation has made. */
    Object made(Object value) throws TemplateFailure {
      if (value instanceof String text) made += text.length();
      else if (value instanceof List<?> list) made += (long) ITEM_LETTERS * list.size();
      if (made > MADE_MAX) throw new TemplateFailure("the template makes too much text");
      return value;
    }

    static void room(StringBuilder out) throws TemplateFailure {
      if (out.length() > LETTERS_MAX) throw new TemplateFailure("the prompt becomes too long");
    }
  }

  private final @Nullable Scope outer;

  /** Null until one is set: most scopes have none. */
  private @Nullable HashMap<String, Object> names;

  /** Names that are not found anywhere else; never changed. */
  private final Map<String, Object> globals;

  private final Budget budget;

  Scope(Map<String, Object> globals, Map<String, Object> names) {
    this.outer = null;
    this.globals = globals;
    this.budget = new Budget();
    this.names = new HashMap<>(names);
  }

  private Scope(Scope outer) {
    this.outer = outer;
    this.globals = outer.globals;
    this.budget = outer.budget;
  }

  /** One inside it: what is set there is not seen outside. */
  Scope inner() {
    return new Scope(this);
  }

  Budget budget() {
    return budget;
  }

  Object get(String name) {
    for (var scope = this; scope != null; scope = scope.outer) {
      var value = scope.names == null ? null : scope.names.get(name);
      if (value != null) return value;
    }
    var value = globals.get(name);
    return value == null ? new Values.Undefined(name) : value;
  }

  void set(String name, Object value) {
    if (names == null) names = new HashMap<>(4);
    names.put(name, value);
  }
}
