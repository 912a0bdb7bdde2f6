package dev.kvasir;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.domain.SourceCodeLocation;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The compiled classes of the house, the row each of them stands on, and what they use. */
record House(JavaClasses classes) {
  /** The name of the package that everybody may know. */
  static final String ROOT = "";

  /** From the ground up; a row knows only the rows before it. */
  static final List<List<String>> ROWS =
      List.of(
          List.of("kv", "time", "spec"),
          List.of("router", "engine", "offload", "text"),
          List.of("model"),
          List.of("net", "sim"),
          List.of("events", "tiers"),
          List.of("gateway", "tierd", "embedded"),
          List.of("tools", "gpu"),
          List.of("cli", "bench"),
          List.of("boot"));

  private static final String PREFIX = "dev.kvasir";

  /** Imports whatever is on the class path, be it folders of classes or jars, but no tests. */
  static House imported() {
    System.setProperty(
        "slf4j.internal.verbosity", "ERROR"); // that ArchUnit logs nowhere is no news
    // No rule asks what the classes of others extend: their names are enough.
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
    return new House(
        new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(House::isNoTestJar)
            .importPackages(PREFIX));
  }

  private static boolean isNoTestJar(Location location) {
    return !location.contains("-tests.jar");
  }

  /** The package below ours that a class belongs to, such as kv, or {@link #ROOT}. */
  static String layerOf(JavaClass type) {
    return layerOf(type.getPackageName() + ".");
  }

  /** The same for a name that begins with ours and goes on after the layer with a dot. */
  static String layerOf(String name) {
    var rest = name.substring(PREFIX.length() + 1);
    int dot = rest.indexOf('.');
    return dot < 0 || Character.isUpperCase(rest.charAt(0)) ? ROOT : rest.substring(0, dot);
  }

  static boolean isOurs(JavaClass type) {
    return (type.getPackageName() + ".").startsWith(PREFIX + ".");
  }

  static boolean isUpward(String from, String to) {
    return row(to) > row(from);
  }

  static boolean isSideways(String from, String to) {
    return row(to) == row(from) && !to.equals(from);
  }

  /** The index of the row a layer stands on; below all of them for the root. */
  static int row(String layer) {
    for (int row = 0; row < ROWS.size(); row++) {
      if (ROWS.get(row).contains(layer)) return row;
    }
    return -1;
  }

  Stream<JavaClass> of(Collection<String> layers) {
    return classes.stream().filter(type -> layers.contains(layerOf(type)));
  }

  /**
   * Finds the places where our classes know other classes of ours whose pair of layers is wrong.
   */
  List<String> wrongWays(BiPredicate<String, String> wrong) {
    return known(
        classes.stream(), (from, to) -> isOurs(to) && wrong.test(layerOf(from), layerOf(to)));
  }

  /** Finds the places where classes of the layers know classes that they may not. */
  List<String> strangers(Collection<String> layers, Predicate<JavaClass> allowed) {
    return known(of(layers), (from, to) -> !to.isPrimitive() && !allowed.test(to));
  }

  private static List<String> known(
      Stream<JavaClass> origins, BiPredicate<JavaClass, JavaClass> wrong) {
    return origins
        .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
        .filter(
            dependency ->
                wrong.test(
                    dependency.getOriginClass(),
                    dependency.getTargetClass().getBaseComponentType()))
        .map(
            dependency ->
                finding(
                    dependency.getOriginClass(),
                    dependency.getSourceCodeLocation(),
                    dependency.getTargetClass().getBaseComponentType().getName()))
        .distinct()
        .sorted()
        .toList();
  }

  /**
   * Finds the places where classes of the layers use what is banned. A ban is a class, a field or a
   * method with its parameter types, in which a star stands for any text: {@code
   * java.util.Random.<init>()}.
   */
  List<String> usesIn(Collection<String> layers, Collection<String> bans) {
    var banned = pattern(bans);
    var uses = new ArrayList<String>();
    uses.addAll(known(of(layers), (from, to) -> banned.matcher(to.getName()).matches()));
    of(layers)
        .flatMap(type -> type.getAccessesFromSelf().stream())
        .filter(access -> banned.matcher(target(access)).matches())
        .map(
            access ->
                finding(access.getOriginOwner(), access.getSourceCodeLocation(), target(access)))
        .distinct()
        .sorted()
        .forEach(uses::add);
    return uses;
  }

  private static String target(JavaAccess<?> access) {
    var member = access.getTargetOwner().getName() + "." + access.getTarget().getName();
    if (!(access instanceof JavaCodeUnitAccess<?> call)) return member;
    return call.getTarget().getRawParameterTypes().stream()
        .map(JavaClass::getName)
        .collect(Collectors.joining(", ", member + "(", ")"));
  }

  private static Pattern pattern(Collection<String> bans) {
    return Pattern.compile(
        bans.stream()
            .map(ban -> Pattern.quote(ban).replace("*", "\\E.*\\Q"))
            .collect(Collectors.joining("|")));
  }

  private static String finding(JavaClass origin, SourceCodeLocation location, String target) {
    return origin.getName() + " " + location + " knows " + target;
  }
}
