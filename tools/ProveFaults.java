import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/**
 * Plants each fault of tools/faults in a built checkout and runs the tests that must catch it.
 *
 * <p>ProveFaults ROOT CLASSPATHS LAUNCHER [WORD...]: CLASSPATHS holds MODULE.txt for each module,
 * LAUNCHER is JUnit's console launcher. A planted file is compiled into a folder that stands first
 * on the class path, so nothing of the checkout changes, and PROVE_JOBS faults are planted at a
 * time (default: 1). Exits with 1 when a fault is not caught.
 *
 * <p>ProveFaults ROOT: only says which faults do not fit the code, and whether {@code mvn verify}
 * finds too few of them; exits with 1 in either case.
 */
public final class ProveFaults {
  private static final List<String> MODULES =
      List.of(
          "kvasir-core",
          "kvasir-text",
          "kvasir-model",
          "kvasir-sim",
          "kvasir-net",
          "kvasir-events",
          "kvasir-tiers",
          "kvasir-tierd",
          "kvasir-gateway",
          "kvasir-engine",
          "kvasir-tools",
          "kvasir-gpu",
          "kvasir-cli");
  private static final double QUICK_SHARE_MIN = 0.75;

  /** Annotation of the tests that run with -Pall alone. */
  private static final String SLOW = "@Tag(\"all\")";

  private static final int SECONDS_MAX = 180;
  private static final int TIMED_OUT = 124;
  private static final int JOBS = Integer.parseInt(System.getenv().getOrDefault("PROVE_JOBS", "1"));

  private final Path root;
  private final Path classPaths;
  private final Path launcher;
  private final Path scratch;

  /** The sources of tests by the names of their classes. */
  private final TreeMap<String, List<Path>> tests = new TreeMap<>();

  /** One fault: the tests that catch it, and the changed files by their paths. */
  record Fault(String name, List<String> tests, Map<String, String> files) {
    /**
     * Files that are not on the class path, such as the launcher: changed in the checkout itself.
     */
    boolean isInPlace() {
      return !files.keySet().stream().allMatch(ProveFaults::isOnClassPath);
    }
  }

  /** A line for each test, and whether all of them failed. */
  private record Verdict(String lines, boolean caught) {}

  private ProveFaults(Path root, Path classPaths, Path launcher) throws IOException {
    this.root = root;
    this.classPaths = classPaths;
    this.launcher = launcher;
    this.scratch = Files.createTempDirectory("prove-faults");
    for (var module : MODULES) {
      var folder = root.resolve(module + "/src/test/java");
      if (!Files.isDirectory(folder)) continue;
      try (Stream<Path> files = Files.walk(folder)) {
        files
            .filter(file -> file.toString().endsWith(".java"))
            .forEach(
                file ->
                    tests
                        .computeIfAbsent(
                            file.getFileName().toString().replace(".java", ""),
                            _ -> new ArrayList<>())
                        .add(file));
      }
    }
  }

  public static void main(String[] args) throws Exception {
    var root = Path.of(args[0]);
    if (args.length == 1) {
      System.exit(new ProveFaults(root, root, root).read(List.of(), new ArrayList<>()) ? 0 : 1);
    }
    var words = List.of(args).subList(3, args.length);
    var prover = new ProveFaults(root, Path.of(args[1]), Path.of(args[2]));
    System.exit(prover.run(words) ? 0 : 1);
  }

  private boolean run(List<String> words) throws Exception {
    long startNanos = System.nanoTime();
    var faults = new ArrayList<Fault>();
    boolean sound = read(words, faults) && passesUnplanted(faults);
    var verdicts = new ArrayList<Future<Verdict>>();
    int caught = 0;
    try (var pool = Executors.newFixedThreadPool(JOBS)) {
      for (var fault : faults) {
        if (!fault.isInPlace()) verdicts.add(pool.submit(() -> prove(fault)));
      }
      for (var verdict : verdicts) if (print(verdict.get())) caught++;
    }
    for (var fault : faults) if (fault.isInPlace() && print(prove(fault))) caught++;
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos);
    System.out.printf(
        "%d of %d faults in behaviour caught by the test meant for them, in %d seconds%n",
        caught, faults.size(), seconds);
    return sound && caught == faults.size();
  }

  private static boolean print(Verdict verdict) {
    System.out.print(verdict.lines());
    return verdict.caught();
  }

  /** Adds the faults that hold one of the words, and tells whether all of them fit the code. */
  private boolean read(List<String> words, List<Fault> faults) throws IOException {
    int lost = 0;
    for (var file : list(root.resolve("tools/faults"))) {
      if (!file.toString().endsWith(".fault")) continue;
      var text = file.getFileName() + " " + Files.readString(file);
      if (!words.isEmpty() && words.stream().noneMatch(text::contains)) continue;
      try {
        faults.add(read(file));
      } catch (IllegalArgumentException e) {
        System.out.println(root.relativize(file) + " does not fit the code: " + e.getMessage());
        lost++;
      }
    }
    if (lost > 0) {
      System.out.println(
          """
          Faults that do not fit the code: %d. Where code or a test has moved or changed, write the same \
          fault against it in the file under tools/faults, and see its check fail with \
          tools/prove-checks --faults NAME. Delete a fault only if its behaviour is gone. \
          tools/faults/README.md tells the format.\
          """
              .formatted(lost));
    }
    return lost == 0 && (!words.isEmpty() || areMostFoundByVerify(faults));
  }

  /** Most faults must have a test that {@code mvn verify} runs, and not only {@code -Pall}. */
  private boolean areMostFoundByVerify(List<Fault> faults) {
    long found =
        faults.stream().filter(each -> each.tests().stream().anyMatch(this::isQuick)).count();
    if (found >= QUICK_SHARE_MIN * faults.size()) return true;
    System.out.printf(
        "Of %d faults, mvn verify finds %d, expected three quarters: the tests of the others have"
            + " %s%n",
        faults.size(), found, SLOW);
    return false;
  }

  private boolean isQuick(String test) {
    var name = testClass(test);
    var source = text(find(test));
    if (name.endsWith("IT")
        || source.substring(0, source.indexOf("class " + name)).contains(SLOW)) {
      return false;
    }
    if (!test.contains(".")) return true;
    int method = source.indexOf(" " + test.substring(test.indexOf('.') + 1) + "(");
    return !source.substring(source.lastIndexOf("\n\n", method), method).contains(SLOW);
  }

  private static List<Path> list(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.sorted().toList();
    }
  }

  private Fault read(Path path) throws IOException {
    var head = new LinkedHashMap<String, String>();
    var tests = new ArrayList<String>();
    var files = new LinkedHashMap<String, String>();
    var name = path.getFileName().toString().replace(".fault", "");
    StringBuilder before = null;
    StringBuilder after = null;
    for (var line : Files.readAllLines(path)) {
      if (line.equals("<<<<")) {
        before = new StringBuilder();
      } else if (line.equals("====") && before != null && after == null) {
        after = new StringBuilder();
      } else if (line.equals(">>>>") && after != null) {
        var file = head.get("file");
        var text = files.containsKey(file) ? files.get(file) : source(file);
        files.put(file, replaced(file, text, before.toString(), after.toString()));
        before = null;
        after = null;
      } else if (after != null) {
        after.append(line).append('\n');
      } else if (before != null) {
        before.append(line).append('\n');
      } else if (line.startsWith("test: ")) {
        tests.add(line.substring("test: ".length()));
      } else if (line.contains(": ")) {
        head.put(line.substring(0, line.indexOf(':')), line.substring(line.indexOf(':') + 2));
      }
    }
    if (files.isEmpty() || tests.isEmpty() || !head.containsKey("fault") || before != null) {
      throw new IllegalArgumentException("it needs fault:, test:, file: and whole changes");
    }
    tests.forEach(this::find);
    return new Fault(name, tests, files);
  }

  private String source(String file) throws IOException {
    var path = root.resolve(file == null ? "" : file);
    if (!Files.isRegularFile(path)) throw new IllegalArgumentException("there is no file " + file);
    return Files.readString(path);
  }

  /** Whole lines, or else a part of one. */
  private static String replaced(String file, String text, String lines, String by) {
    boolean whole = text.contains(lines);
    var before = whole ? lines : lines.strip();
    var after = whole ? by : by.strip();
    int first = text.indexOf(before);
    if (first < 0 || text.indexOf(before, first + 1) >= 0) {
      throw new IllegalArgumentException(
          "%s must hold this text once, and %s:\n%s"
              .formatted(file, first < 0 ? "does not" : "does more often", before.stripTrailing()));
    }
    if (before.equals(after)) {
      throw new IllegalArgumentException("it changes nothing in " + file + ":\n" + before);
    }
    return text.substring(0, first) + after + text.substring(first + before.length());
  }

  /** A test that fails anyway proves nothing. */
  private boolean passesUnplanted(List<Fault> faults) throws Exception {
    // The tests of a module, shared out by classes.
    var shares = new TreeMap<String, List<String>>();
    for (var fault : faults) {
      for (var test : fault.tests()) {
        int share = Math.floorMod(testClass(test).hashCode(), JOBS);
        shares.computeIfAbsent(module(test) + "-" + share, _ -> new ArrayList<>()).add(test);
      }
    }
    var failures = new ArrayList<Future<String>>();
    try (var pool = Executors.newFixedThreadPool(JOBS)) {
      shares.forEach((share, tests) -> failures.add(pool.submit(() -> failures(share, tests))));
    }
    boolean sound = true;
    for (var failure : failures) {
      System.out.print(failure.get());
      sound &= failure.get().isEmpty();
    }
    return sound;
  }

  private String failures(String share, List<String> tests) throws Exception {
    var log = scratch.resolve("unplanted-" + share + ".log");
    if (test(null, tests, log, 5 * SECONDS_MAX) == 0) return "";
    return Files.readAllLines(log).stream()
        .filter(line -> line.contains("=>") || line.contains("[X]") || line.contains("✘"))
        .limit(20)
        .map(line -> line + "\n")
        .collect(Collectors.joining("", share + ": tests fail before anything is planted:\n", ""));
  }

  /** Each of its tests must fail. */
  private Verdict prove(Fault fault) throws Exception {
    var folder = scratch.resolve(fault.name());
    var log = scratch.resolve(fault.name() + ".log");
    if (!compile(fault, folder, log)) {
      var words = Files.readString(log).lines().findFirst().orElse("");
      return new Verdict(line(fault, fault.tests().getFirst(), "DOES NOT COMPILE", words), false);
    }
    var lines = new StringBuilder();
    boolean caught = true;
    for (var test : fault.tests()) {
      int status = planted(fault, test, folder, log);
      boolean fails = status == 1 || status == TIMED_OUT;
      caught &= fails;
      lines.append(line(fault, test, fails ? "caught" : "NOT CAUGHT", words(status, log)));
    }
    return new Verdict(lines.toString(), caught);
  }

  private static String words(int status, Path log) throws IOException {
    if (status == TIMED_OUT) return "no end in " + SECONDS_MAX + " seconds";
    try (Stream<String> lines = Files.lines(log)) {
      return lines
          .filter(line -> line.contains("=>") || line.contains("[A]"))
          .findFirst()
          .orElse("");
    }
  }

  private static String line(Fault fault, String test, String verdict, String words) {
    return "%-50s %-10s %-70s %s%n"
        .formatted(cut(fault.name(), 50), verdict, cut(test, 70), cut(words.strip(), 100));
  }

  private int planted(Fault fault, String test, Path folder, Path log) throws Exception {
    var before = new LinkedHashMap<Path, String>();
    try {
      for (var file : fault.files().entrySet()) {
        if (isOnClassPath(file.getKey())) continue;
        var path = root.resolve(file.getKey());
        before.put(path, Files.readString(path));
        Files.writeString(path, file.getValue());
      }
      return test(folder, List.of(test), log, SECONDS_MAX);
    } finally {
      for (var file : before.entrySet()) Files.writeString(file.getKey(), file.getValue());
    }
  }

  private static boolean isOnClassPath(String file) {
    return file.startsWith("kvasir-");
  }

  private boolean compile(Fault fault, Path folder, Path log) throws IOException {
    var arguments = new ArrayList<>(List.of("-nowarn", "-parameters", "-proc:none", "-g"));
    arguments.addAll(List.of("--add-modules", "jdk.incubator.vector"));
    arguments.addAll(
        List.of(
            "-cp",
            classPath("kvasir-cli", null) + File.pathSeparator + classPath("kvasir-tools", null)));
    Files.createDirectories(folder.resolve("classes"));
    arguments.addAll(List.of("-d", folder.resolve("classes").toString()));
    boolean any = false;
    for (var file : fault.files().entrySet()) {
      if (!isOnClassPath(file.getKey())) continue;
      boolean java = file.getKey().endsWith(".java");
      var target =
          java
              ? folder.resolve("sources").resolve(file.getKey())
              : folder.resolve("classes").resolve(file.getKey().replaceFirst(".*/resources/", ""));
      Files.createDirectories(target.getParent());
      Files.writeString(target, file.getValue());
      if (java) arguments.add(target.toString());
      any |= java;
    }
    if (!any) return true;
    try (var out = Files.newOutputStream(log)) {
      return ToolProvider.getSystemJavaCompiler()
              .run(null, out, out, arguments.toArray(String[]::new))
          == 0;
    }
  }

  private String classPath(String module, Path planted) throws IOException {
    var path = new ArrayList<String>();
    if (planted != null) path.add(planted.resolve("classes").toString());
    for (var each : MODULES) {
      path.add(root.resolve(each + "/target/classes").toString());
      path.add(root.resolve(each + "/target/test-classes").toString());
    }
    var rest = Files.readString(classPaths.resolve(module + ".txt")).strip();
    for (var entry : rest.split(File.pathSeparator)) {
      if (!entry.startsWith(root.toString())) path.add(entry);
    }
    return String.join(File.pathSeparator, path);
  }

  /** Runs tests of one module. */
  private int test(Path planted, List<String> tests, Path log, int seconds) throws Exception {
    var module = module(tests.getFirst());
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.add("-XX:MaxRAMPercentage=" + Math.min(25, 80.0 / JOBS));
    command.addAll(List.of("--add-modules", "jdk.incubator.vector"));
    command.addAll(
        List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=deny"));
    command.addAll(List.of("-Dkvasir.root=" + root, "-Dkvasir.scale=1", "-Dkvasir.soak.seconds=5"));
    command.addAll(List.of("-cp", launcher + File.pathSeparator + classPath(module, planted)));
    command.addAll(List.of("org.junit.platform.console.ConsoleLauncher", "execute"));
    command.addAll(List.of("--disable-banner", "--disable-ansi-colors", "--fail-if-no-tests"));
    for (var test : tests) {
      command.add("--select-class=" + qualified(test));
      var method = test.contains(".") ? test : test + "..*";
      command.add("--include-methodname=.*[.$]" + method.replaceFirst("\\.", "[.#]"));
    }
    var process =
        new ProcessBuilder(command)
            .directory(root.resolve(module).toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    if (process.waitFor(seconds, TimeUnit.SECONDS)) return process.exitValue();
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly().waitFor();
    return TIMED_OUT;
  }

  /** The source of a test; classes of one name are told apart by the method. */
  private Path find(String test) {
    var method = test.substring(test.indexOf('.') + 1);
    for (var file : tests.getOrDefault(testClass(test), List.of())) {
      if (!test.contains(".") || text(file).contains(" " + method + "(")) return file;
    }
    throw new IllegalArgumentException("there is no test " + test);
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static String testClass(String test) {
    return test.split("\\.")[0];
  }

  private String module(String test) {
    return root.relativize(find(test)).getName(0).toString();
  }

  private String qualified(String test) {
    return root.resolve(module(test) + "/src/test/java")
        .relativize(find(test))
        .toString()
        .replace(".java", "")
        .replace(File.separatorChar, '.');
  }

  private static String cut(String text, int length) {
    return text.length() <= length ? text : text.substring(0, length - 1) + "…";
  }
}
