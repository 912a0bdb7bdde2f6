package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.cli.process.UserErrors;
import dev.kvasir.sim.page.ComparisonPage;
import dev.kvasir.sim.page.Shard;
import dev.kvasir.sim.table.ComparisonJson;
import dev.kvasir.sim.table.ComparisonTable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Merges the parts of a sweep that several processes ran. */
@Command(
    name = "merge",
    description = "Merge the parts of a sweep that 'simulate --shard' wrote.",
    optionListHeading = "%nOptions:%n",
    footer = {
      "",
      "Example:",
      "  kvasir simulate --trace traffic.jsonl --sweep instances=2,4,8 --shard 0/2 > 0.json",
      "  kvasir simulate --trace traffic.jsonl --sweep instances=2,4,8 --shard 1/2 > 1.json",
      "  kvasir merge 0.json 1.json"
    })
public final class MergeCommand implements Callable<Integer> {
  private final PrintWriter out;
  private final PrintWriter err;

  @Parameters(paramLabel = "FILE", arity = "1..*", description = "All parts, in any order.")
  private List<Path> files = new ArrayList<>();

  @Option(names = "--json", description = "Write a JSON array, for programs.")
  private boolean json;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description = "Write a page with charts: one HTML file that opens offline.")
  private @Nullable Path report;

  public MergeCommand(PrintWriter out, PrintWriter err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    return UserErrors.caught(err, "merge", this::run);
  }

  private int run() throws IOException {
    var shards = new ArrayList<Shard>();
    for (var file : files) shards.add(Shard.read(Files.readString(file), file.toString()));
    var comparison = Shard.merge(shards);
    if (json) out.println(ComparisonJson.write(comparison));
    else out.print(ComparisonTable.of(comparison));
    out.flush();
    if (report != null) {
      Files.writeString(report, ComparisonPage.of(comparison, shards.getFirst().asked()));
    }
    return ExitCode.OK;
  }
}
