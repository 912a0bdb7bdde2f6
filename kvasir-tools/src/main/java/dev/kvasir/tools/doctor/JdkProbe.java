package dev.kvasir.tools.doctor;

import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;

/** Checks the Java that runs this process. */
final class JdkProbe {
  static final int FEATURE_MIN = 25;

  private JdkProbe() {}

  static Check look() {
    return judge(
        Runtime.version(),
        System.getProperty("java.vendor", "unknown vendor"),
        Path.of(System.getProperty("java.home", "")));
  }

  static Check judge(Runtime.Version version, String vendor, Path home) {
    boolean javac = Files.isExecutable(home.resolve("bin").resolve("javac"));
    var details = new LinkedHashMap<String, Object>();
    details.put("version", version.toString());
    details.put("vendor", vendor);
    details.put("home", home.toString());
    details.put("javac", javac);
    String found = version + ", " + vendor + ", " + home;
    if (version.feature() < FEATURE_MIN) {
      String follows = "Kvasir needs " + FEATURE_MIN + " or newer; set JAVA25_HOME to one";
      return new Check("jdk", Status.MISSING, found, follows, details);
    }
    String follows =
        javac
            ? "it builds and runs Kvasir; nothing to do"
            : "it runs Kvasir; to build it, too, takes a JDK with javac";
    return new Check("jdk", javac ? Status.OK : Status.NOTE, found, follows, details);
  }
}
