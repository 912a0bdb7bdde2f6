import com.sun.tools.javac.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Compiles what tools/javac asks for, until the build ends: Compiler FOLDER PID.
 *
 * <p>A file NAME.request in FOLDER tells the file of arguments for javac. NAME.output tells what
 * javac said, and then NAME.status with what it ended. PID is a process that the build has started.
 */
public final class Compiler {
  private static final long IDLE_NANOS_MAX = TimeUnit.MINUTES.toNanos(10);
  private static final long LOOK_MILLIS = 50;
  private static final long STACK_BYTES = 64L << 20;

  private final Path folder;
  private final AtomicInteger running = new AtomicInteger();

  private Compiler(Path folder) {
    this.folder = folder;
  }

  public static void main(String[] args) throws Exception {
    var compiler = new Compiler(Path.of(args[0]));
    Runtime.getRuntime().addShutdownHook(new Thread(compiler::leave));
    compiler.serve(build(Long.parseLong(args[1])));
    System.exit(0);
  }

  /** The Java process that is nearest above, since a shell may stand between it and us. */
  private static ProcessHandle build(long pid) {
    var nearest = ProcessHandle.of(pid).orElseThrow();
    for (var above = nearest; ; above = above.parent().get()) {
      if (above.info().command().orElse("").endsWith("/java")) return above;
      if (above.parent().isEmpty()) return nearest;
    }
  }

  private void serve(ProcessHandle build) throws Exception {
    long busyNanos = System.nanoTime();
    while (build.isAlive() && System.nanoTime() - busyNanos < IDLE_NANOS_MAX) {
      for (var request : requests()) {
        var taken = Path.of(request + ".taken");
        if (!request.toFile().renameTo(taken.toFile())) continue; // who asked waits no more
        var file = Files.readString(taken).strip();
        running.incrementAndGet();
        new Thread(null, () -> answer(request, file), "javac " + file, STACK_BYTES).start();
      }
      if (running.get() > 0) busyNanos = System.nanoTime();
      Thread.sleep(LOOK_MILLIS);
    }
  }

  private List<Path> requests() throws IOException {
    try (var files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".request")).toList();
    }
  }

  private void answer(Path request, String file) {
    var name = request.getFileName().toString().replace(".request", "");
    var said = new StringWriter();
    int status = 4; // javac's own for an exception in it
    try (var writer = new PrintWriter(said)) {
      status = Main.compile(new String[] {"@" + file}, writer);
    } catch (Throwable e) {
      e.printStackTrace(new PrintWriter(said, true));
    }
    try {
      Files.writeString(folder.resolve(name + ".output"), said.toString());
      var told = Files.writeString(folder.resolve(name + ".told"), status + "\n");
      Files.move(told, folder.resolve(name + ".status"));
    } catch (IOException e) {
      e.printStackTrace();
      System.exit(1); // who waits sees that, and compiles without us
    }
    running.decrementAndGet();
  }

  private void leave() {
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(file);
    } catch (IOException e) {
      e.printStackTrace();
    }
  }
}
