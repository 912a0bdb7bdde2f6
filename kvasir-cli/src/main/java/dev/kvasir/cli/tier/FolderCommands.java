package dev.kvasir.cli.tier;

import dev.kvasir.Nullable;
import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.net.machine.Bytes;
import dev.kvasir.tierd.cache.TierFolder;
import dev.kvasir.tierd.offline.TierContents;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Looks into a folder of the tier daemon: ls, stat, verify, evict and export. */
public final class FolderCommands {
  private FolderCommands() {}

  /** Adds all of them to the command of the daemon. */
  public static CommandLine under(
      CommandLine tier, PrintWriter out, PrintWriter err, Map<String, String> environment) {
    var place = TierCommand.usualFolder(environment).resolve("tier");
    for (var command :
        List.of(
            new Ls(out, err, place),
            new Stat(out, err, place),
            new Verify(out, err, place),
            new Evict(out, err, place),
            new Export(out, err, place))) {
      var line = new CommandLine(command);
      var help = OptionSpec.builder("-h", "--help").usageHelp(true).description("Show this help.");
      line.getCommandSpec().addOption(help.build());
      tier.addSubcommand(line);
    }
    return tier;
  }

  /** Base of these commands: a folder, and a choice of its namespaces. */
  abstract static sealed class InFolder implements Callable<Integer> {
    final PrintWriter out;
    private final PrintWriter err;

    @Option(
        names = "--folder",
        paramLabel = "DIR",
        description = "The daemon's folder (default: tier in ~/.cache/kvasir).")
    private Path folder;

    InFolder(PrintWriter out, PrintWriter err, Path folder) {
      this.out = out;
      this.err = err;
      this.folder = folder;
    }

    abstract int each(TierFolder space) throws IOException;

    /** The namespace that is meant, by the beginning of its name; null for all. */
    @Nullable
    String wanted() {
      return null;
    }

    @Override
    public Integer call() throws IOException {
      int found = 0;
      int code = ExitCode.OK;
      for (var space : TierFolder.in(folder)) {
        var wanted = wanted();
        if (wanted != null && !space.id().startsWith(wanted)) continue;
        found++;
        try {
          code = Math.max(code, each(space));
        } catch (IOException e) {
          err.println("kvasir: " + space.id() + ": " + e.getMessage());
          code = ExitCode.DATA;
        }
      }
      if (found == 0) {
        var what = wanted() == null ? "no namespace" : "no namespace '" + wanted() + "'";
        err.println("kvasir: there is " + what + " in " + folder);
        code = ExitCode.USAGE;
      }
      out.flush();
      return code;
    }
  }

  /** One of the namespaces. */
  abstract static sealed class InNamespace extends InFolder {
    @Parameters(paramLabel = "NAMESPACE", description = "The beginning of its name, from ls.")
    private String namespace = "";

    InNamespace(PrintWriter out, PrintWriter err, Path folder) {
      super(out, err, folder);
    }

    @Override
    String wanted() {
      return namespace;
    }
  }

  /** Lists the namespaces. */
  @Command(name = "ls", description = "List the namespaces in a folder, the oldest first.")
  static final class Ls extends InFolder {
    Ls(PrintWriter out, PrintWriter err, Path folder) {
      super(out, err, folder);
    }

    @Override
    int each(TierFolder space) throws IOException {
      var namespace = space.namespace();
      if (namespace == null) throw new IOException("its text cannot be read");
      out.printf(
          Locale.ROOT,
          "%s  %10s  %s  %s  %s%n",
          space.id(),
          Bytes.text(space.bytes()),
          space.used().toString().substring(0, 19),
          namespace.isStrong() ? "strong" : "weak  ",
          namespace.model());
      return ExitCode.OK;
    }
  }

  /** Tells all of one namespace. */
  @Command(name = "stat", description = "Show what a namespace is and holds.")
  static final class Stat extends InNamespace {
    Stat(PrintWriter out, PrintWriter err, Path folder) {
      super(out, err, folder);
    }

    @Override
    int each(TierFolder space) throws IOException {
      try (var contents = TierContents.open(space)) {
        contents.namespace().text().lines().forEach(line -> out.println("  " + line));
        long bytes = (long) contents.chunks().size() * contents.namespace().rowBytes();
        out.printf(
            Locale.ROOT,
            "  %,d chunks, %s of KV, %s on disk%n",
            contents.chunks().size(),
            Bytes.text(bytes),
            Bytes.text(space.bytes()));
      }
      return ExitCode.OK;
    }
  }

  /** Reads all chunks and checks them. */
  @Command(name = "verify", description = "Read all chunks of a namespace and check them.")
  static final class Verify extends InNamespace {
    Verify(PrintWriter out, PrintWriter err, Path folder) {
      super(out, err, folder);
    }

    @Override
    int each(TierFolder space) throws IOException {
      int damaged = 0;
      try (var contents = TierContents.open(space)) {
        for (var chunk : contents.chunks()) {
          if (contents.read(chunk).isPresent()) continue;
          damaged++;
          out.println("  damaged " + chunk.block().hash());
        }
        int good = contents.chunks().size() - damaged;
        out.printf(Locale.ROOT, "%s: %,d chunks good, %,d damaged%n", space.id(), good, damaged);
      }
      return damaged == 0 ? ExitCode.OK : ExitCode.DATA;
    }
  }

  /** Deletes a namespace. */
  @Command(name = "evict", description = "Delete all that a namespace has on disk.")
  static final class Evict extends InNamespace {
    Evict(PrintWriter out, PrintWriter err, Path folder) {
      super(out, err, folder);
    }

    @Override
    int each(TierFolder space) throws IOException {
      long bytes = space.bytes();
      space.delete();
      out.printf(Locale.ROOT, "%s: deleted, %s free%n", space.id(), Bytes.text(bytes));
      return ExitCode.OK;
    }
  }

  /** Writes the chunks into files. */
  @Command(name = "export", description = "Write the chunks of a namespace into files.")
  static final class Export extends InNamespace {
    @Parameters(paramLabel = "DIR", description = "Where to; made if it is not there.")
    private Path to = Path.of("");

    Export(PrintWriter out, PrintWriter err, Path folder) {
      super(out, err, folder);
    }

    @Override
    int each(TierFolder space) throws IOException {
      Files.createDirectories(to);
      int written = 0;
      try (var contents = TierContents.open(space);
          var index = Files.newBufferedWriter(to.resolve("index.tsv"))) {
        Files.writeString(to.resolve("namespace"), contents.namespace().text());
        index.write("name\tparent\tposition\n");
        for (var chunk : contents.chunks()) {
          var bytes = contents.read(chunk);
          if (bytes.isEmpty()) continue;
          var block = chunk.block();
          var file = to.resolve(block.hash() + ".kv");
          try (var channel =
              FileChannel.open(
                  file,
                  StandardOpenOption.CREATE,
                  StandardOpenOption.TRUNCATE_EXISTING,
                  StandardOpenOption.WRITE)) {
            var left = bytes.get().asByteBuffer();
            while (left.hasRemaining()) {
              var _ = channel.write(left);
            }
          }
          var parent = block.parent() == null ? "" : block.parent().toString();
          index.write(block.hash() + "\t" + parent + "\t" + block.position() + "\n");
          written++;
        }
      }
      out.printf(Locale.ROOT, "%s: %,d chunks in %s%n", space.id(), written, to);
      return ExitCode.OK;
    }
  }
}
