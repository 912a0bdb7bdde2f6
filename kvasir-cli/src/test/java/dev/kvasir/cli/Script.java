package dev.kvasir.cli;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.TimeUnit;

/** A program running in a process of its own, with no environment but the one it is given. */
final class Script {
  private static final long PATIENCE_SECONDS = 120;

  private final Process process;
  private final Path out;
  private final Path err;

  /** Exit code and output of a script. */
  record Result(int exit, String out, String err) {}

  private Script(Process process, Path out, Path err) {
    this.process = process;
    this.out = out;
    this.err = err;
  }

  /** Returns the folder of the project, as the build names it. */
  static Path projectRoot() {
    return Path.of(System.getProperty("kvasir.root", "..")).toAbsolutePath().normalize();
  }

  /** Copies a file of the project, or a folder of files, to the same place below another folder. */
  static void copy(String name, Path folder) throws IOException {
    Path source = projectRoot().resolve(name);
    Path copy = folder.resolve(name);
    Files.createDirectories(copy.resolveSibling("."));
    Files.copy(source, copy);
    if (!Files.isDirectory(source)) return;
    try (var files = Files.list(source)) {
      for (Path file : files.toList()) Files.copy(file, copy.resolve(file.getFileName()));
    }
  }

  static Script start(SequencedMap<String, String> environment, Path folder, String... command) {
    try {
      Path out = Files.createTempFile("kvasir-test", ".out");
      Path err = Files.createTempFile("kvasir-test", ".err");
      var builder = new ProcessBuilder(command).directory(folder.toFile());
      builder.redirectInput(new File("/dev/null"));
      builder.redirectOutput(out.toFile()).redirectError(err.toFile());
      builder.environment().clear();
      builder.environment().putAll(environment);
      return new Script(builder.start(), out, err);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  Result finish() throws IOException, InterruptedException {
    if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IllegalStateException("still running: " + process.info());
    }
    var result = new Result(process.exitValue(), Files.readString(out), Files.readString(err));
    Files.delete(out);
    Files.delete(err);
    return result;
  }

  /** Fills a folder with the few tools that the scripts use: no java, no mvn. */
  static Path gatherTools(Path folder, String... names) throws IOException {
    Files.createDirectories(folder);
    for (String name : names) {
      Optional<Path> tool = onThePath(name);
      if (tool.isPresent()) {
        executable(folder.resolve(name), "exec " + tool.get() + " \"$@\"");
      }
    }
    return folder;
  }

  static void executable(Path file, String script) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + script + "\n");
    if (!file.toFile().setExecutable(true)) {
      throw new IOException(file.toString());
    }
  }

  static Optional<Path> onThePath(String name) {
    String folders = System.getenv().getOrDefault("PATH", "/usr/bin:/bin");
    return Arrays.stream(folders.split(":", -1))
        .map(folder -> Path.of(folder).resolve(name).toAbsolutePath())
        .filter(Files::isExecutable)
        .findFirst();
  }
}
