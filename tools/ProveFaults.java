import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/**
 * Plants each fault of tools/faults in a built checkout and runs the tests that must catch it.
 *
 * <p>ProveFaults ROOT CLASSPATHS LAUNCHER [WORD...]: CLASSPATHS holds MODULE.txt for each module,
 * LAUNCHER is JUnit's console launcher. A planted file is compiled into a folder that stands first
 * on the class path, so nothing of the checkout changes. Exits with 1 when a fault is not caught.
 */
public final class ProveFaults {
  private static final List<String> MODULES =
      List.of(
          "kvasir-core",
          "kvasir-text",
          "kvasir-model",
          "kvasir-sim",
          "kvasir-live",
          "kvasir-gpu",
          "kvasir-cli");
  private static final int SECONDS_MAX = 180;

  private final Path root;
  private final Path classPaths;
  private final Path launcher;
  private final Path scratch;

  /** One fault: what it says, the tests that catch it, and the changed files by their paths. */
  record Fault(String name, String says, List<String> tests, Map<String, String> files) {}

  private ProveFaults(Path root, Path classPaths, Path launcher) throws IOException {
    this.root = root;
    this.classPaths = classPaths;
    this.launcher = launcher;
    this.scratch = Files.createTempDirectory("prove-faults");
  }

  public static void main(String[] args) throws Exception {
    var words = List.of(args).subList(3, args.length);
    var prover = new ProveFaults(Path.of(args[0]), Path.of(args[1]), Path.of(args[2]));
    System.exit(prover.run(words) ? 0 : 1);
  }

  private boolean run(List<String> words) throws Exception {
    long startNanos = System.nanoTime();
    var faults = new ArrayList<Fault>();
    int lost = 0;
    for (var file : list(root.resolve("tools/faults"))) {
      if (!file.toString().endsWith(".fault")) continue;
      var text = file.getFileName() + " " + Files.readString(file);
      if (!words.isEmpty() && words.stream().noneMatch(text::contains)) continue;
      try {
        faults.add(read(file));
      } catch (IllegalArgumentException e) {
        System.out.println("DOES NOT APPLY " + e.getMessage());
        lost++;
      }
    }
    boolean sound = lost == 0 && (faults.isEmpty() || passesUnplanted(faults));
    int caught = 0;
    for (var fault : faults) if (isCaught(fault)) caught++;
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos);
    System.out.printf(
        "%d of %d faults in behaviour caught by the test meant for them, in %d seconds%n",
        caught, faults.size() + lost, seconds);
    return sound && caught == faults.size();
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
        var text = files.containsKey(file) ? files.get(file) : source(name, file);
        files.put(file, replaced(name, text, before.toString(), after.toString()));
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
    if (files.isEmpty() || tests.isEmpty() || !head.containsKey("fault")) {
      throw new IllegalArgumentException(name + " needs fault:, test:, file: and a change");
    }
    return new Fault(name, head.get("fault"), tests, files);
  }

  private String source(String name, String file) throws IOException {
    var path = root.resolve(file == null ? "" : file);
    if (!Files.isRegularFile(path)) throw new IllegalArgumentException(name + ": no file " + file);
    return Files.readString(path);
  }

  /** Whole lines, or else a part of one. */
  private static String replaced(String name, String text, String lines, String by) {
    boolean whole = text.contains(lines);
    var before = whole ? lines : lines.strip();
    var after = whole ? by : by.strip();
    int first = text.indexOf(before);
    if (first < 0 || text.indexOf(before, first + 1) >= 0) {
      throw new IllegalArgumentException(
          name + ": the text to replace must occur once, and does not:\n" + before);
    }
    return text.substring(0, first) + after + text.substring(first + before.length());
  }

  /** A test that fails anyway proves nothing. */
  private boolean passesUnplanted(List<Fault> faults) throws Exception {
    var byModule = new TreeMap<String, List<String>>();
    for (var fault : faults) {
      for (var test : fault.tests()) {
        byModule.computeIfAbsent(module(test), _ -> new ArrayList<>()).add(test);
      }
    }
    boolean sound = true;
    for (var entry : byModule.entrySet()) {
      var log = scratch.resolve("unplanted.log");
      int status = test(entry.getKey(), null, entry.getValue(), log, 5 * SECONDS_MAX);
      if (status == 0) continue;
      sound = false;
      System.out.println("the tests of " + entry.getKey() + " fail before anything is planted:");
      Files.readAllLines(log).stream()
          .filter(line -> line.contains("=>") || line.contains("[X]") || line.contains("✘"))
          .limit(20)
          .forEach(System.out::println);
    }
    return sound;
  }

  /** Each of its tests must fail. */
  private boolean isCaught(Fault fault) throws Exception {
    var folder = scratch.resolve(fault.name());
    var log = scratch.resolve(fault.name() + ".log");
    if (!compile(fault, folder, log)) {
      var words = Files.readString(log).lines().findFirst().orElse("");
      tell(fault, fault.tests().getFirst(), "DOES NOT COMPILE", words);
      return false;
    }
    boolean caught = true;
    for (var test : fault.tests()) caught &= isCaught(fault, test, folder, log);
    return caught;
  }

  private boolean isCaught(Fault fault, String test, Path folder, Path log) throws Exception {
    int status = planted(fault, test, folder, log);
    boolean caught = status == 1 || status == 124;
    var words =
        status == 124
            ? "no end in " + SECONDS_MAX + " seconds"
            : Files.readString(log)
                .lines()
                .filter(line -> line.contains("=>"))
                .findFirst()
                .orElse("");
    tell(fault, test, caught ? "caught" : "NOT CAUGHT", words);
    return caught;
  }

  private static void tell(Fault fault, String test, String verdict, String words) {
    System.out.printf(
        "%-58s %-10s %-70s %s%n",
        cut(fault.says(), 58), verdict, cut(test, 70), cut(words.strip(), 100));
  }

  /** What is not on the class path, such as the launcher, is changed in place meanwhile. */
  private int planted(Fault fault, String test, Path folder, Path log) throws Exception {
    var before = new LinkedHashMap<Path, String>();
    try {
      for (var file : fault.files().entrySet()) {
        if (file.getKey().contains("/src/")) continue;
        var path = root.resolve(file.getKey());
        before.put(path, Files.readString(path));
        Files.writeString(path, file.getValue());
      }
      return test(module(test), folder, List.of(test), log, SECONDS_MAX);
    } finally {
      for (var file : before.entrySet()) Files.writeString(file.getKey(), file.getValue());
    }
  }

  private boolean compile(Fault fault, Path folder, Path log) throws IOException {
    var arguments = new ArrayList<>(List.of("-nowarn", "-parameters", "-proc:none", "-g"));
    arguments.addAll(List.of("--add-modules", "jdk.incubator.vector"));
    arguments.addAll(
        List.of(
            "-cp",
            classPath("kvasir-cli", null) + File.pathSeparator + classPath("kvasir-live", null)));
    Files.createDirectories(folder.resolve("classes"));
    arguments.addAll(List.of("-d", folder.resolve("classes").toString()));
    boolean any = false;
    for (var file : fault.files().entrySet()) {
      if (!file.getKey().contains("/src/")) continue;
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

  private int test(String module, Path planted, List<String> tests, Path log, int seconds)
      throws Exception {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of("--add-modules", "jdk.incubator.vector"));
    command.addAll(
        List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=deny"));
    command.addAll(List.of("-Dkvasir.root=" + root, "-Dkvasir.scale=1", "-Dkvasir.soak.seconds=5"));
    command.addAll(List.of("-cp", launcher + File.pathSeparator + classPath(module, planted)));
    command.addAll(List.of("org.junit.platform.console.ConsoleLauncher", "execute"));
    command.addAll(List.of("--disable-banner", "--disable-ansi-colors", "--fail-if-no-tests"));
    for (var test : tests) {
      command.add("--select-class=" + qualified(testClass(test)));
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
    return 124;
  }

  private Path find(String testClass) throws IOException {
    for (var module : MODULES) {
      try (Stream<Path> files = Files.walk(root.resolve(module + "/src/test/java"))) {
        var found = files.filter(file -> file.endsWith(testClass + ".java")).findFirst();
        if (found.isPresent()) return found.get();
      }
    }
    throw new IllegalArgumentException("there is no test class " + testClass);
  }

  private static String testClass(String test) {
    return test.split("\\.")[0];
  }

  private String module(String test) throws IOException {
    return root.relativize(find(testClass(test))).getName(0).toString();
  }

  private String qualified(String testClass) throws IOException {
    var file = find(testClass);
    var sources = root.resolve(module(testClass) + "/src/test/java");
    return sources
        .relativize(file)
        .toString()
        .replace(".java", "")
        .replace(File.separatorChar, '.');
  }

  private static String cut(String text, int length) {
    return text.length() <= length ? text : text.substring(0, length - 1) + "…";
  }
}
