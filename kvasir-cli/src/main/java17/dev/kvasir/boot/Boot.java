package dev.kvasir.boot;

import java.lang.reflect.InvocationTargetException;

/** The entry point, readable by Java 17: says what is missing where it would only fail. */
public final class Boot {
  private static final int NEEDED = 25;
  private static final int UNAVAILABLE = 69;

  private Boot() {}

  public static void main(String[] args) throws Throwable {
    if (Runtime.version().feature() < NEEDED) {
      System.err.println(
          "kvasir: needs Java "
              + NEEDED
              + " or newer, but this is Java "
              + Runtime.version()
              + ". Start it with ./kvasir, which looks for one; JAVA25_HOME says where it is.");
      System.exit(UNAVAILABLE);
    }
    try {
      Class.forName("dev.kvasir.cli.Main")
          .getMethod("main", String[].class)
          .invoke(null, (Object) args);
    } catch (InvocationTargetException failure) {
      throw failure.getCause();
    }
  }
}
