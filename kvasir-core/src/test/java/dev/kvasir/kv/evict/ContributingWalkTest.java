package dev.kvasir.kv.evict;

import static java.util.regex.Pattern.DOTALL;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Does what CONTRIBUTING.md says for a new eviction policy, to the letter: copies its pieces to
 * where it says, compiles them against the product, and runs the sentence and the comparison with
 * the plain version.
 */
class ContributingWalkTest {
  private static final Path ROOT = Path.of(System.getProperty("kvasir.root", ".."));
  private static final String MAIN = "kvasir-core/src/main/java/dev/kvasir/kv/evict/";
  private static final String TEST = "kvasir-core/src/test/java/dev/kvasir/kv/";

  @TempDir private Path folder;
  private final List<String> pieces = new ArrayList<>();

  @BeforeEach
  void follow() throws IOException {
    var page = Files.readString(ROOT.resolve("CONTRIBUTING.md"));
    var walk = page.substring(page.indexOf("## A first contribution"));
    walk = walk.substring(0, walk.indexOf("\n## "));
    var code = Pattern.compile("```java\n(.*?)```", DOTALL).matcher(walk);
    while (code.find()) pieces.add(code.group(1));
    assertThat(pieces).hasSize(5);
    write("EvictionOrderTest.java", TEST, "class EvictionOrderTest {\n", pieces.get(0));
    write("EvictionKind.java", MAIN, "public enum EvictionKind {\n", pieces.get(1));
    Files.writeString(folder.resolve("SecondChanceEviction.java"), pieces.get(2));
    write("ModelOrder.java", TEST + "evict/", "return switch (kind) {\n", pieces.get(3));
    insert(
        "ModelOrder.java", "public static final int NONE = EvictionPolicy.NONE;\n", pieces.get(4));
    compile();
  }

  private void write(String name, String from, String behind, String piece) throws IOException {
    Files.copy(ROOT.resolve(from + name), folder.resolve(name));
    insert(name, behind, piece);
  }

  private void insert(String name, String behind, String piece) throws IOException {
    var file = folder.resolve(name);
    var text = Files.readString(file);
    assertThat(text).as(name).containsOnlyOnce(behind);
    Files.writeString(file, text.replace(behind, behind + piece));
  }

  private void compile() throws IOException {
    var output = new StringWriter();
    var compiler = ToolProvider.getSystemJavaCompiler();
    try (var files = compiler.getStandardFileManager(null, null, null);
        var sources = Files.list(folder)) {
      var units = files.getJavaFileObjectsFromPaths(sources.toList());
      var options = List.of("-d", folder.toString(), "-cp", classPath(), "-proc:none");
      boolean done = compiler.getTask(output, files, null, options, null, units).call();
      assertThat(done).as(output.toString()).isTrue();
    }
  }

  private static String classPath() {
    return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
  }

  @Test
  void itsSentenceHoldsAndThePlainVersionAgrees() throws Exception {
    var places = new ArrayList<URL>();
    places.add(folder.toUri().toURL());
    for (var place : classPath().split(File.pathSeparator, -1)) {
      if (!place.isEmpty()) places.add(URI.create(Path.of(place).toUri().toString()).toURL());
    }
    try (var loader =
        new URLClassLoader(places.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      var name = Pattern.compile("void (\\w+)\\(").matcher(pieces.getFirst());
      assertThat(name.find()).isTrue();
      run(loader, "dev.kvasir.kv.EvictionOrderTest", name.group(1));
      var kind = loader.loadClass(EvictionKind.class.getName());
      var made = kind.getMethod("named", String.class).invoke(null, "second-chance");
      run(loader, "dev.kvasir.kv.PoolModelTest", "poolAndModelAgreeAfterEveryOperation", made);
    }
  }

  private static void run(ClassLoader loader, String test, String method, Object... arguments)
      throws ReflectiveOperationException {
    var made = loader.loadClass(test).getDeclaredConstructor();
    made.setAccessible(true);
    var instance = made.newInstance();
    var types = new Class<?>[arguments.length];
    for (int i = 0; i < types.length; i++) types[i] = arguments[i].getClass();
    var run = instance.getClass().getDeclaredMethod(method, types);
    run.setAccessible(true);
    run.invoke(instance, arguments);
  }
}
