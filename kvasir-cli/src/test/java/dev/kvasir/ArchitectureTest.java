package dev.kvasir;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.SynchronizedTree;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds the rows of docs/architecture.md and its one rule. */
class ArchitectureTest {
  private static final List<String> CORE =
      List.of(House.ROOT, "time", "kv", "spec", "offload", "engine", "router");
  private static final List<String> PLAIN = plus(CORE, "sim");
  private static final List<String> ALL_BUT_CLI =
      plus(
          PLAIN,
          "text",
          "model",
          "net",
          "events",
          "tiers",
          "gateway",
          "tierd",
          "embedded",
          "tools",
          "gpu",
          "bench");
  private static final List<String> ALL = plus(ALL_BUT_CLI, "cli", "boot");

  private static final String FUNCTION = "java.util.function.Function";

  private static final Pattern IMPORT =
      Pattern.compile("import (?:static )?(dev\\.kvasir\\.[\\w.]+);");

  private static final Pattern ARROW = Pattern.compile("(\\w+) +-> (\\w+) ");
  private static final Pattern NAMED = Pattern.compile("`(?:[a-z]+\\.)*([A-Z]\\w+(?:\\.\\w+)?)`");

  private static final House HOUSE = House.imported();
  private static final List<Source> SOURCES =
      Checkout.here().sources().stream()
          .filter(source -> source.isMain() && source.unit().getPackageName() != null)
          .toList();

  @Test
  void everyMainClassWasRead() {
    var read = HOUSE.classes().stream().map(JavaClass::getName).toList();
    var written =
        SOURCES.stream()
            .map(Source::name)
            .filter(name -> !name.startsWith("kvasir-bench/") && !name.endsWith("-info.java"))
            .map(name -> name.replaceAll(".*/src/main/java\\d*/|\\.java$", "").replace('/', '.'))
            .toList();
    assertThat(read).containsAll(written);
    var layers = HOUSE.classes().stream().map(House::layerOf).collect(toCollection(TreeSet::new));
    assertThat(layers).contains("kv", "time", "sim", "gateway", "cli", "boot");
  }

  @Test
  void everyClassStandsOnARow() {
    var outside =
        HOUSE.classes().stream()
            .filter(type -> House.row(House.layerOf(type)) < 0)
            .map(JavaClass::getName);
    assertThat(outside).containsExactlyInAnyOrder("dev.kvasir.Nullable", "dev.kvasir.Records");
  }

  @Test
  void importsPointDown() {
    assertThat(HOUSE.wrongWays(House::isUpward)).isEmpty();
    assertThat(wrongImports(House::isUpward)).isEmpty();
  }

  @Test
  void neighboursOnARowDoNotKnowEachOther() {
    assertThat(HOUSE.wrongWays(House::isSideways)).isEmpty();
    assertThat(wrongImports(House::isSideways)).isEmpty();
  }

  /** Sees the imports of which no trace is left in the class file: constants, and Javadoc. */
  private static List<String> wrongImports(BiPredicate<String, String> wrong) {
    var found = new ArrayList<String>();
    for (var source : SOURCES) {
      var from = House.layerOf(source.unit().getPackageName() + ".");
      for (int line = 1; line <= source.lines().size(); line++) {
        var matcher = IMPORT.matcher(source.lines().get(line - 1));
        if (matcher.matches() && wrong.test(from, House.layerOf(matcher.group(1)))) {
          found.add(source.at(line) + " " + matcher.group());
        }
      }
    }
    return found;
  }

  @Test
  void bootKnowsNobody() {
    assertThat(HOUSE.strangers(List.of("boot"), type -> isInJdk(type) || isIn(type, "boot")))
        .isEmpty();
  }

  @Test
  void packagesFormNoCycle() {
    slices().matching("dev.kvasir.(**)").should().beFreeOfCycles().check(HOUSE.classes());
  }

  /** Sees also the imports that only a comment or a constant needs. */
  @Test
  void importsFormNoCycle() {
    var known = new TreeMap<String, Set<String>>();
    for (var source : SOURCES) {
      var imported = known.computeIfAbsent(packageOf(source), _ -> new TreeSet<>());
      for (var line : source.lines()) {
        var matcher = IMPORT.matcher(line);
        if (matcher.matches()) imported.add(packageIn(matcher.group(1)));
      }
      imported.remove(packageOf(source));
      imported.remove("dev.kvasir");
    }
    // What is left when packages that know none of the others are taken away is a cycle, or above.
    while (known.values().removeIf(Set::isEmpty)) {
      known.values().forEach(imported -> imported.retainAll(known.keySet()));
    }
    assertThat(known).isEmpty();
  }

  private static String packageIn(String imported) {
    return imported.replaceFirst("\\.[A-Z].*", "");
  }

  @Test
  void everyPackageSaysWhatItIs() {
    var described =
        SOURCES.stream()
            .filter(source -> source.name().endsWith("package-info.java"))
            .map(ArchitectureTest::packageOf)
            .toList();
    var packages =
        SOURCES.stream()
            .filter(Source::isMain)
            .map(ArchitectureTest::packageOf)
            .filter(name -> !name.equals("dev.kvasir"))
            .distinct();
    assertThat(packages).allSatisfy(name -> assertThat(described).contains(name));
  }

  /** A path of docs/architecture.md: its heading, and the arrows of its pictures. */
  private record Walk(String heading, List<String> arrows) {}

  private static List<String> page() {
    return Checkout.here().text("docs/architecture.md").orElseThrow().lines().toList();
  }

  private static List<Walk> walks() {
    var walks = new ArrayList<Walk>();
    for (var line : page()) {
      if (line.startsWith("## The path of ")) {
        walks.add(new Walk(line, new ArrayList<>()));
      }
      var arrow = ARROW.matcher(line);
      if (!arrow.lookingAt()) continue;
      walks.getLast().arrows.add(arrow.group(1) + " " + arrow.group(2));
    }
    return walks;
  }

  @Test
  void everyArrowOfTheArchitecturePageIsInTheCode() {
    assertThat(walks()).hasSize(2);
    for (var walk : walks()) {
      assertThat(walk.arrows).as(walk.heading).hasSizeGreaterThan(9);
      for (var arrow : walk.arrows) {
        var ends = arrow.split(" ", -1);
        var known =
            HOUSE.classes().stream()
                .filter(type -> topLevel(type).equals(ends[0]))
                .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                .map(dependency -> topLevel(dependency.getTargetClass()))
                .collect(toCollection(TreeSet::new));
        assertThat(known).as(arrow).contains(ends[1]);
      }
    }
  }

  private static String topLevel(JavaClass type) {
    var name = type.getName().substring(type.getName().lastIndexOf('.') + 1);
    return name.replaceFirst("\\$.*", "");
  }

  @Test
  void everyClassOnTheArchitecturePageExists() {
    var known = new TreeSet<>(List.of("ArchitectureTest", "WeakReference"));
    for (var type : HOUSE.classes()) {
      known.add(type.getSimpleName());
      type.getMethods().forEach(each -> known.add(type.getSimpleName() + "." + each.getName()));
      if (type.isNestedClass()) known.add(topLevel(type) + "." + type.getSimpleName());
    }
    for (var line : page()) {
      var names = NAMED.matcher(line);
      while (names.find()) assertThat(known).as(line).contains(names.group(1));
    }
  }

  @Test
  void coreSeesOnlyTheJdkAndItself() {
    assertThat(HOUSE.strangers(CORE, type -> isInJdk(type) || isAmong(type, CORE))).isEmpty();
  }

  @Test
  void theSimulatorAddsOnlyItsJsonLibrary() {
    assertThat(
            HOUSE.strangers(
                List.of("sim"),
                type ->
                    isInJdk(type)
                        || isAmong(type, PLAIN)
                        || type.getPackageName().startsWith("tools.jackson.")))
        .isEmpty();
  }

  @Test
  void textKnowsOnlyTheCoreAndItsJsonLibrary() {
    var known = plus(CORE, "text");
    assertThat(
            HOUSE.strangers(
                List.of("text"),
                type ->
                    isInJdk(type)
                        || isAmong(type, known)
                        || type.getPackageName().startsWith("tools.jackson.")))
        .isEmpty();
  }

  @Test
  void theModelKnowsOnlyTheCoreAndText() {
    var known = plus(CORE, "text", "model");
    assertThat(
            HOUSE.strangers(
                List.of("model"),
                type ->
                    isInJdk(type)
                        || isAmong(type, known)
                        || type.getPackageName().startsWith("jdk.incubator.vector")
                        || type.getPackageName().startsWith("com.sun.management")))
        .isEmpty();
  }

  @Test
  void onlyTheShellsHaveThreads() {
    bannedInPlain(
        "java.lang.Thread*",
        "java.lang.InheritableThreadLocal",
        "java.lang.ScopedValue*",
        "java.lang.InterruptedException",
        "java.lang.Object.wait*(*)",
        "java.lang.Object.notify*(*)",
        "java.util.Timer*",
        "java.util.concurrent.*",
        "java.util.*.parallel*(*)",
        "java.util.Collections.synchronized*(*)");
  }

  @Test
  void onlyTheShellsLock() {
    var fields =
        HOUSE
            .of(PLAIN)
            .flatMap(type -> type.getFields().stream())
            .filter(field -> field.getModifiers().contains(JavaModifier.VOLATILE));
    assertThat(fields).isEmpty();
    var methods =
        HOUSE
            .of(PLAIN)
            .flatMap(type -> type.getMethods().stream())
            .filter(method -> method.getModifiers().contains(JavaModifier.SYNCHRONIZED));
    assertThat(methods).isEmpty();
    assertThat(plainSources().flatMap(ArchitectureTest::synchronizedBlocks)).isEmpty();
  }

  private static Stream<String> synchronizedBlocks(Source source) {
    return source.all(SynchronizedTree.class).stream().map(source::at);
  }

  @Test
  void onlyTheShellsTouchSocketsAndFiles() {
    bannedInPlain(
        "java.net.*",
        "java.nio.file.*",
        "java.nio.channels.*",
        "java.io.File*",
        "java.io.RandomAccessFile",
        "java.io.PrintStream.<init>(java.lang.String*",
        "java.io.PrintWriter.<init>(java.lang.String*",
        "java.util.Formatter.<init>(java.lang.String*",
        "java.util.jar.*",
        "java.util.zip.ZipFile",
        "java.lang.foreign.Linker*",
        "java.lang.foreign.SymbolLookup");
  }

  @Test
  void onlyTheShellsKnowTheTime() {
    bannedInPlain(
        "java.lang.System.nanoTime()",
        "java.lang.System.currentTimeMillis()",
        "java.time.*.now(*)",
        "java.time.Clock.system*(*)",
        "java.time.Clock.tick*(*)",
        "java.time.InstantSource.system()",
        "java.util.Date.<init>()",
        "java.util.*Calendar*");
  }

  @Test
  void onlyTheShellsKnowTheMachine() {
    bannedInPlain(
        "java.lang.Runtime",
        "java.lang.Runtime$*",
        "java.lang.Process*",
        "java.lang.System.getenv(*)",
        "java.lang.System.getProper*(*)",
        "java.lang.System.lineSeparator()",
        "java.lang.System.load*(*)",
        "java.lang.Integer.getInteger(*)",
        "java.lang.Long.getLong(*)",
        "java.lang.Boolean.getBoolean(*)",
        "java.lang.management.*",
        "java.nio.charset.Charset.defaultCharset()",
        "java.time.ZoneId.systemDefault()",
        "java.util.TimeZone.getDefault()",
        "java.util.Locale.getDefault(*)");
  }

  @Test
  void formatsDoNotAskForTheLocale() {
    assertThat(plainSources().flatMap(source -> LocaleFormats.in(source).stream())).isEmpty();
  }

  /** The functions of Math may differ in the last bit between machines; StrictMath's do not. */
  @Test
  void numbersAreTheSameOnEveryMachine() {
    bannedInPlain(
        Stream.of(
                "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp",
                "expm1", "log", "log10", "log1p", "pow", "cbrt", "hypot")
            .map(function -> "java.lang.Math." + function + "(*)")
            .toArray(String[]::new));
  }

  @Test
  void chanceIsSeeded() {
    bannedInPlain(
        "java.lang.Math.random()",
        "java.lang.StrictMath.random()",
        "java.util.Random.<init>()",
        "java.util.SplittableRandom.<init>()",
        "java.util.random.RandomGenerator.getDefault()",
        "java.util.random.RandomGenerator*.of(*)",
        "java.util.random.RandomGeneratorFactory.getDefault()",
        "java.util.random.RandomGeneratorFactory.create()",
        "java.util.Collections.shuffle(java.util.List)",
        "java.util.UUID",
        "java.security.SecureRandom");
  }

  @Test
  void lifetimesAreCounted() {
    bannedInPlain(
        "java.lang.ref.*",
        "java.lang.Object.finalize()",
        "java.lang.System.gc()",
        "java.lang.foreign.Arena.ofAuto()",
        "java.util.WeakHashMap");
  }

  @Test
  void orderIsChosen() {
    bannedInPlain(
        "java.util.Set.of(*)",
        "java.util.Set.copyOf(*)",
        "java.util.Map.of(*)",
        "java.util.Map.ofEntries(*)",
        "java.util.Map.copyOf(*)",
        "java.util.IdentityHashMap",
        "java.util.Hashtable",
        "java.lang.System.identityHashCode(*)",
        "java.util.HashMap.keySet()",
        "java.util.HashMap.values()",
        "java.util.HashMap.entrySet()",
        "java.util.HashMap.forEach(*)",
        "java.util.HashMap.toString()",
        "java.util.HashSet.iterator()",
        "java.util.HashSet.spliterator()",
        "java.util.HashSet.stream()",
        "java.util.HashSet.forEach(*)",
        "java.util.HashSet.toArray(*)",
        "java.util.HashSet.toString()",
        "java.util.stream.Collectors.toSet()",
        "java.util.stream.Collectors.toUnmodifiableSet()",
        "java.util.stream.Collectors.toUnmodifiableMap(*)",
        "java.util.stream.Collectors.toMap(" + FUNCTION + ", " + FUNCTION + ")",
        "java.util.stream.Collectors.toMap(" + FUNCTION + ", " + FUNCTION + ", *BinaryOperator)",
        "java.util.stream.Collectors.groupingBy(" + FUNCTION + ")",
        "java.util.stream.Collectors.groupingBy(" + FUNCTION + ", *Collector)");
  }

  @Test
  void hashTablesAreNotWalked() {
    assertThat(plainSources().flatMap(source -> HashTableWalks.in(source).stream())).isEmpty();
  }

  @Test
  void onlyTheShellsPrint() {
    bannedInPlain(
        "java.lang.System.out",
        "java.lang.System.err",
        "java.lang.System.in",
        "java.lang.System.console()",
        "java.lang.IO",
        "java.io.Console",
        "java.lang.Throwable.printStackTrace()");
  }

  @Test
  void nobodyReadsSerializedObjects() {
    assertThat(HOUSE.usesIn(ALL, List.of("java.io.Object*Stream*"))).isEmpty();
  }

  @Test
  void onlyTheCommandLineExits() {
    var exits =
        List.of(
            "java.lang.System.exit(*)", "java.lang.Runtime.exit(*)", "java.lang.Runtime.halt(*)");
    assertThat(HOUSE.usesIn(ALL_BUT_CLI, exits)).isEmpty();
  }

  private static void bannedInPlain(String... bans) {
    assertThat(HOUSE.usesIn(PLAIN, List.of(bans))).isEmpty();
  }

  private static String packageOf(Source source) {
    return String.valueOf(source.unit().getPackageName());
  }

  private static Stream<Source> plainSources() {
    return SOURCES.stream()
        .filter(source -> PLAIN.contains(House.layerOf(source.unit().getPackageName() + ".")));
  }

  private static boolean isInJdk(JavaClass type) {
    return type.getPackageName().startsWith("java.");
  }

  private static boolean isIn(JavaClass type, String layer) {
    return isAmong(type, List.of(layer));
  }

  private static boolean isAmong(JavaClass type, List<String> layers) {
    return House.isOurs(type) && layers.contains(House.layerOf(type));
  }

  private static List<String> plus(List<String> layers, String... more) {
    return Stream.concat(layers.stream(), Stream.of(more)).toList();
  }
}
