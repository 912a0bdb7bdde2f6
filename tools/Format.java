import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;

/** Runs google-java-format over every Java source below a folder: Format check|apply FOLDER. */
public final class Format {
  private Format() {}

  public static void main(String[] args) throws Exception {
    boolean apply = args[0].equals("apply");
    var arguments = new ArrayList<String>();
    if (apply) {
      arguments.add("--replace");
    } else {
      arguments.addAll(List.of("--dry-run", "--set-exit-if-changed"));
      // It formats each file a second time for that, and TidyTest counts the columns.
      arguments.add("--skip-reflowing-long-strings");
    }
    try (var paths = Files.walk(Path.of(args[1]))) {
      paths
          .map(Path::toString)
          .filter(path -> path.endsWith(".java") && !path.contains("/target/"))
          .sorted()
          .forEach(arguments::add);
    }
    var formatter = ToolProvider.findFirst("google-java-format").orElseThrow();
    int status =
        formatter.run(
            new PrintWriter(System.out, true),
            new PrintWriter(System.err, true),
            arguments.toArray(String[]::new));
    System.exit(status);
  }
}
