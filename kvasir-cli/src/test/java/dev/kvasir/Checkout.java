package dev.kvasir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The folder the house is built in, and the files in it that belong to the project. */
record Checkout(Path root) {
  private static final Pattern NOT_OURS =
      Pattern.compile("(.*/)?(target|\\.git|\\.idea|\\.vscode|\\.settings)(/.*)?");

  /** The checkout that this test runs in. */
  static Checkout here() {
    var named = System.getProperty("kvasir.root");
    if (named != null) return new Checkout(Path.of(named).toAbsolutePath().normalize());
    var folder = Path.of("").toAbsolutePath();
    while (folder != null && !hasModules(folder.resolve("pom.xml"))) folder = folder.getParent();
    if (folder == null)
      throw new IllegalStateException("no pom.xml with modules above this folder");
    return new Checkout(folder);
  }

  private static boolean hasModules(Path pom) {
    return Files.isRegularFile(pom) && read(pom).orElse("").contains("<modules>");
  }

  /** Every Java source of the modules, the tools and the examples, read and parsed. */
  List<Source> sources() {
    var names =
        walk().stream()
            .filter(name -> name.endsWith(".java"))
            .filter(name -> name.matches("[^/]+/src/.*|tools/.*|examples/.*"))
            .toList();
    return Source.parse(root, names);
  }

  /** The names of the files that git tracks, or of all that lie here where there is no git. */
  List<String> tracked() {
    if (!Files.exists(root.resolve(".git"))) return walk();
    try {
      var git =
          new ProcessBuilder("git", "ls-files", "-z")
              .directory(root.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      var names = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (git.waitFor() != 0) return walk();
      return Stream.of(names.split("\0"))
          .filter(name -> Files.isRegularFile(root.resolve(name)))
          .sorted()
          .toList();
    } catch (IOException noGit) {
      return walk();
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException("interrupted while git listed its files", interrupted);
    }
  }

  /** The text of a file, or nothing when it is not text. */
  Optional<String> text(String name) {
    return read(root.resolve(name));
  }

  private static Optional<String> read(Path file) {
    try {
      var bytes = Files.readAllBytes(file);
      return Optional.of(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException notText) {
      return Optional.empty();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private List<String> walk() {
    var names = new ArrayList<String>();
    walk(root, names);
    return names.stream().sorted().toList();
  }

  private void walk(Path folder, List<String> names) {
    try (var entries = Files.list(folder)) {
      for (var entry : entries.toList()) {
        var name = root.relativize(entry).toString().replace('\\', '/');
        if (NOT_OURS.matcher(name).matches() || Files.isSymbolicLink(entry)) continue;
        if (Files.isDirectory(entry)) walk(entry, names);
        else names.add(name);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
